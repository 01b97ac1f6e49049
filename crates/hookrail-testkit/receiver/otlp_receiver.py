"""A collector for tests: decodes OTLP over HTTP with the published definitions and prints each request as a line of JSON.

A field that the definitions do not know fails the request, so that a wrong number of a field is found.
"""

import json
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf import unknown_fields
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

REQUESTS = {
    "/v1/traces": (trace_service_pb2.ExportTraceServiceRequest, trace_service_pb2.ExportTraceServiceResponse),
    "/v1/logs": (logs_service_pb2.ExportLogsServiceRequest, logs_service_pb2.ExportLogsServiceResponse),
    "/v1/metrics": (metrics_service_pb2.ExportMetricsServiceRequest, metrics_service_pb2.ExportMetricsServiceResponse),
}


def check(message):
    """Fails if a message, or one inside it, has a field that its definition does not have."""
    unknown = [field.field_number for field in unknown_fields.UnknownFieldSet(message)]
    if unknown:
        raise ValueError(f"{message.DESCRIPTOR.full_name} has unknown fields {unknown}")
    for field, value in message.ListFields():
        if field.message_type is not None:
            for one in value if not hasattr(value, "DESCRIPTOR") else [value]:
                check(one)


def attributes(message):
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in message.attributes}


def span(one):
    return {
        "name": one.name,
        "trace": one.trace_id.hex(),
        "span": one.span_id.hex(),
        "parent": one.parent_span_id.hex(),
        "kind": one.kind,
        "start": one.start_time_unix_nano,
        "end": one.end_time_unix_nano,
        "flags": one.flags,
        "error": one.status.message if one.status.code == 2 else None,
        "attributes": attributes(one),
    }


def log(one):
    return {
        "name": one.event_name,
        "trace": one.trace_id.hex(),
        "span": one.span_id.hex(),
        "severity": one.severity_text,
        "number": one.severity_number,
        "time": one.time_unix_nano,
        "body": one.body.string_value,
        "attributes": attributes(one),
    }


def metric(one):
    kind = one.WhichOneof("data")
    data = getattr(one, kind)
    points = []
    for point in data.data_points:
        found = {"attributes": attributes(point), "start": point.start_time_unix_nano, "time": point.time_unix_nano}
        if kind == "sum":
            found["value"] = point.as_int
        else:
            buckets = list(point.bucket_counts)
            found.update(count=point.count, sum=point.sum, min=point.min, max=point.max, buckets=buckets)
            found["bounds"] = list(point.explicit_bounds)
        points.append(found)
    return {"name": one.name, "unit": one.unit, "kind": kind, "cumulative": data.aggregation_temporality == 2, "points": points}


def decoded(path, body):
    message = REQUESTS[path][0]()
    message.ParseFromString(body)
    check(message)
    (outer,) = getattr(message, {"/v1/traces": "resource_spans", "/v1/logs": "resource_logs"}.get(path, "resource_metrics"))
    found = {"path": path, "resource": attributes(outer.resource)}
    if path == "/v1/traces":
        found["spans"] = [span(one) for scope in outer.scope_spans for one in scope.spans]
    elif path == "/v1/logs":
        found["logs"] = [log(one) for scope in outer.scope_logs for one in scope.log_records]
    else:
        found["metrics"] = [metric(one) for scope in outer.scope_metrics for one in scope.metrics]
    return found


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            found = decoded(self.path, body)
            found["headers"] = {name.lower(): value for name, value in self.headers.items()}
            status, answer = 200, REQUESTS[self.path][1]().SerializeToString()
        except Exception as problem:  # every problem is one of the sender
            found = {"path": self.path, "problem": repr(problem)}
            status, answer = 400, b""
        print(json.dumps(found), flush=True)
        self.send_response(status)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(json.dumps({"port": server.server_address[1]}), flush=True)
server.serve_forever()
