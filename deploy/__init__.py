"""How trifuse runs: the command line, the services on one's own machine, the demo."""
