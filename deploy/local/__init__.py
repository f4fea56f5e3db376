"""The services on one's own machine: a real OpenSearch, a Redis, Celery workers.

`up` starts them and leaves them running; `stack.LocalServices` has them for the length of a block. What the
server is made of is pinned in `opensearch-*.sha256`, which `relock` writes from `distribution`.
"""
