"""The click log: events in, evidence out.

Readers (`reading`) make one kind of event of many kinds of log; `intake` checks, keeps and counts them;
`rebuild` makes the counts again from what was kept, `forget` takes events out of all of it; `influence` and
`rates` say whose clicks count and how click-through falls with the rank, `judgements` judges documents by
them; `produce` sends live events to the task in `tasks`.
"""
