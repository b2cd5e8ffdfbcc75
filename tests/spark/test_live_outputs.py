"""Records reach a file and Prometheus, and come back from the file as they were."""

import json
import logging
import os
import socket
import subprocess
import sys
import urllib.request

import pytest

from recollect.errors import InputError, MissingExtraError
from recollect.spark.live import JsonLines, LiveNumbers, Prometheus, read_records
from recollect.spark.live.numbers import Numbers
from tests.spark.events import QUERY, progress

pytestmark = pytest.mark.spark


def feed(live, *results, first=0, **more):
    for batch, count in enumerate(results, first):
        numbers = Numbers(results=count, buffered=100 + count, engine_micros=500_000)
        live.onQueryProgress(progress(batch, {"recollect.ads": numbers}, **more))


def test_every_batch_is_a_line_at_once(tmp_path):
    path = tmp_path / "new" / "folder" / "live.jsonl"
    seen = []
    live = LiveNumbers(JsonLines(path), lambda record: seen.append(len(path.read_bytes())))
    feed(live, 5, 7)
    assert seen[0] < seen[1]
    lines = path.read_text().splitlines()
    assert [json.loads(line)["results"] for line in lines] == [5, 7]


def test_a_restart_continues_the_file_and_the_last_run_of_a_batch_counts(tmp_path):
    path = tmp_path / "live.jsonl"
    feed(LiveNumbers(JsonLines(path)), 5, 7)
    records = []
    feed(LiveNumbers(JsonLines(path), records.append), 8, 9, first=1)
    assert len(path.read_text().splitlines()) == 4
    assert [record["results"] for record in read_records(path)] == [5, 8, 9]
    assert read_records(path)[1:] == records


def test_a_line_cut_short_spoils_no_other(tmp_path, caplog):
    path = tmp_path / "live.jsonl"
    feed(LiveNumbers(JsonLines(path)), 5)
    with open(path, "a") as file:
        file.write('{"join": "ads", "bat')
    feed(LiveNumbers(JsonLines(path)), 7, 9, first=1)
    with caplog.at_level(logging.WARNING):
        assert [record["results"] for record in read_records(path)] == [5, 7, 9]
    assert caplog.messages == [f"{path}, line 2 was cut short and is left out"]


def test_a_file_that_cannot_be_written_is_refused_at_once(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot be written to .*file/live\.jsonl"):
        JsonLines(tmp_path / "file" / "live.jsonl")
    with pytest.raises(InputError, match="nowhere cannot be read"):
        read_records(tmp_path / "nowhere")


def metrics(endpoint):
    address = f"http://127.0.0.1:{endpoint.port}/metrics"
    with urllib.request.urlopen(address, timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


def test_prometheus_sees_totals_and_levels():
    with Prometheus(0) as endpoint:
        assert metrics(endpoint) == {}
        live = LiveNumbers(endpoint)
        feed(live, 5, 7, watermark="2026-01-01T00:00:20.000Z")
        feed(live, 7, first=1, name="clicks")  # the same batch again; the query got a name
        labels = f'{{join="ads",query="{QUERY}"}}'
        shown = {
            name.removesuffix(labels): float(value)
            for name, value in metrics(endpoint).items()
            if name.endswith(labels)
        }
        assert shown["recollect_results_total"] == 12
        assert shown["recollect_batches_total"] == 2
        assert shown["recollect_engine_seconds_total"] == 1
        assert shown["recollect_buffered_tuples"] == 107
        assert shown["recollect_rows_per_second"] == 50_000
        assert shown["recollect_batch_duration_seconds"] == 0.8
        assert shown["recollect_watermark_seconds"] == 1_767_225_620
        assert metrics(endpoint)['recollect_results_total{join="ads",query="clicks"}'] == "12.0"


def test_a_closed_endpoint_frees_its_port():
    endpoint = Prometheus(0)
    with pytest.raises(InputError, match=rf"127\.0\.0\.1:{endpoint.port}: .*port 0"):
        Prometheus(endpoint.port)
    endpoint.close()
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", endpoint.port))


def test_a_port_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="70000"):
        Prometheus(70_000)


def test_missing_prometheus_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'recollect\[spark\]'"):
        Prometheus(0)


def test_prometheus_is_loaded_late():
    code = "import sys, recollect.spark.live; sys.exit('prometheus_client' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
