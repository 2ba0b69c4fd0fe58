"""The page that Prometheus reads. Its library takes 20 ms to import, so only hubs with metrics load it."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from handraise.api.metrics import SECONDS, Counted, Waits
from handraise.reach.counts import NotificationCounts


def render(counted: Counted) -> bytes:
    """All metrics in Prometheus's format."""
    registry = CollectorRegistry()
    registry.register(_Gathered(list(_families(counted))))
    return generate_latest(registry)


class _Gathered(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _families(counted: Counted) -> Iterator[Metric]:
    yield _gauges("handraise_asks_open", "Open asks", "kind", counted.open_asks)
    yield _gauges("handraise_sessions", "Sessions by phase", "phase", counted.sessions)
    yield GaugeMetricFamily(
        "handraise_journal_lag_bytes", "Bytes written by Claude and not yet read", value=counted.lag
    )
    yield GaugeMetricFamily("handraise_streams_open", "Clients following the feed", value=counted.streams)
    family = CounterMetricFamily("handraise_http_responses", "HTTP responses by status", labels=["status"])
    for status, count in counted.statuses.items():
        family.add_metric([str(status)], count)
    yield family
    yield _answers(counted.waits)
    yield from _notifications(counted.notifications)


def _notifications(counts: NotificationCounts) -> Iterator[Metric]:
    name, description = "handraise_notifications", "Notifications by kind of channel, step of the chain and state"
    family = CounterMetricFamily(name, description, labels=["channel", "step", "state"])
    for labels, count in sorted(counts.entries.items()):
        family.add_metric(labels, count)
    yield family
    family = CounterMetricFamily("handraise_notifications_unneeded", "What rang for nothing", labels=["channel"])
    for channel, count in sorted(counts.unneeded.items()):
        family.add_metric([channel], count)
    yield family
    yield SummaryMetricFamily(
        "handraise_notice_seconds",
        "Time from an ask until someone looked at it",
        count_value=counts.noticed,
        sum_value=counts.seconds_to_notice,
    )
    yield CounterMetricFamily(
        "handraise_agent_wait_seconds", "Seconds that agents waited for people", value=counts.seconds_waited
    )


def _gauges(name: str, description: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(name, description, labels=[label])
    for each, count in counts.items():
        family.add_metric([each], count)
    return family


def _answers(waits: Mapping[str, Waits]) -> Metric:
    name = "handraise_answer_seconds"
    family = HistogramMetricFamily(name, "Time from an ask to its answer", labels=["kind"])
    bounds = [*(str(float(bound)) for bound in SECONDS), "+Inf"]
    for kind, each in waits.items():
        family.add_metric([kind], list(zip(bounds, accumulate(each.counts), strict=True)), each.seconds)
        family.add_sample(f"{name}_created", {"kind": kind}, each.since)
    return family
