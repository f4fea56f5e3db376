"""Trial2Vec (Wang and Sun 2022): the parts of a trial to one vector, learned without labels."""
