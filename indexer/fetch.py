"""Studies from the registry's public API, version 2: pages of JSON, politely asked for.

https://clinicaltrials.gov/data-api/api
"""

from __future__ import annotations

import email.utils
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import msgspec

from trifuse.indexer.errors import RegistryError

REGISTRY_API = "https://clinicaltrials.gov/api/v2"
_LARGEST_PAGE = 1000
_RETRIED = frozenset((408, 425, 429, 500, 502, 503, 504))


@dataclass(frozen=True)
class StudyQuery:
    """Which studies: the registry's own `query.cond`, `query.term` and `filter.ids`; at least one of them.

    Args:
        ids: NCT ids; the registry takes some hundreds at once.
    """

    condition: str | None = None
    term: str | None = None
    ids: tuple[str, ...] = ()

    def params(self) -> dict[str, str]:
        """The query as the API's parameters."""
        named = {
            "query.cond": self.condition,
            "query.term": self.term,
            "filter.ids": ",".join(self.ids) or None,
        }
        return {name: value for name, value in named.items() if value}


@dataclass(frozen=True)
class Politeness:
    """How the registry is asked.

    Args:
        interval_s: the least time between two requests.
        retries: how often a request is repeated that failed for a passing reason.
        backoff_s: the wait before the first repetition; each further one waits twice as long.
        longest_wait_s: the longest wait, also where the registry asks for more (`Retry-After`).
        timeout_s: how long an answer may take.
    """

    interval_s: float = 0.5
    retries: int = 5
    backoff_s: float = 1.0
    longest_wait_s: float = 120.0
    timeout_s: float = 30.0


class _Page(msgspec.Struct, rename="camel"):
    studies: list[msgspec.Raw]
    next_page_token: str | None = None
    total_count: int | None = None


def fetch_studies(
    query: StudyQuery,
    *,
    limit: int,
    api: str = REGISTRY_API,
    page_size: int = 100,
    polite: Politeness = Politeness(),
    on_total: Callable[[int], None] | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[bytes]:
    """Stream up to `limit` studies, each as one line of JSON without its end.

    Args:
        on_total: told how many studies match, as soon as the registry says so.

    Raises:
        RegistryError: the registry refuses, or gives no usable answer in all retries; the studies of the
            pages before have been yielded.
    """
    left, token, seen, number = limit, None, set[str](), 0
    with httpx.Client(timeout=polite.timeout_s, follow_redirects=True) as client:
        asker = _Asker(client, f"{api.rstrip('/')}/studies", polite, sleep)
        while left > 0:
            number += 1
            params = {
                **query.params(),
                "pageSize": str(min(page_size, _LARGEST_PAGE, left)),
                "format": "json",
            }
            params |= {"pageToken": token} if token else {"countTotal": "true"}
            page = asker.page(params, number)
            if page.total_count is not None and on_total is not None:
                on_total(page.total_count)
            for study in page.studies[:left]:
                yield msgspec.json.format(bytes(study), indent=-1)
            left -= len(page.studies)
            token = page.next_page_token
            if not token:
                return
            if token in seen:
                raise RegistryError(f"{asker.url}: page {number} names a next page that was read already")
            seen.add(token)


class _Asker:
    """Asks for pages one at a time, not too often, and again where that may help."""

    def __init__(
        self, client: httpx.Client, url: str, polite: Politeness, sleep: Callable[[float], None]
    ) -> None:
        self.url = url
        self._client = client
        self._polite = polite
        self._sleep = sleep
        self._asked_at: float | None = None

    def page(self, params: dict[str, str], number: int) -> _Page:
        """A page of studies.

        Raises:
            RegistryError: naming the page, what came back and how often it was asked for.
        """
        polite, problem = self._polite, ""
        for attempt in range(polite.retries + 1):
            self._keep_interval()
            answer = self._ask(params, number)
            if isinstance(answer, _Page):
                return answer
            problem, wait_s = answer
            if attempt < polite.retries:
                self._sleep(min(max(wait_s, polite.backoff_s * 2**attempt), polite.longest_wait_s))
        raise RegistryError(
            f"{self.url} gave no usable page {number} in {polite.retries + 1} requests; the last: {problem}; "
            "try again later"
        )

    def _ask(self, params: dict[str, str], number: int) -> _Page | tuple[str, float]:
        """One request: the page, or a passing problem and the wait that the registry asks for."""
        try:
            response = self._client.get(self.url, params=params)
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.TooManyRedirects) as error:
            raise RegistryError(f"{self.url}: {error}; check the URL (--api)") from error
        except httpx.HTTPError as error:
            return f"{type(error).__name__}: {error}".rstrip(": "), 0.0
        if response.status_code in _RETRIED:
            return f"HTTP {response.status_code}", _retry_after(response)
        if response.status_code != httpx.codes.OK:
            said = " ".join(response.text.split())[:200] or "no reason given"
            raise RegistryError(
                f"{self.url} refused page {number} with HTTP {response.status_code}: {said}; check the query"
            )
        try:
            return msgspec.json.decode(response.content, type=_Page)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return f"not a page of studies: {error}", 0.0

    def _keep_interval(self) -> None:
        now = time.monotonic()
        if self._asked_at is not None and (early := self._asked_at + self._polite.interval_s - now) > 0:
            self._sleep(early)
        self._asked_at = time.monotonic()


def _retry_after(response: httpx.Response) -> float:
    """Seconds that the registry asks to wait, as a number or a date; 0 where it doesn't."""
    value = response.headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value)
    try:
        return email.utils.parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, TypeError):
        return 0.0
