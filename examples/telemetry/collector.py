from http.server import BaseHTTPRequestHandler, HTTPServer

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

class Collector(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/v1/traces":
            for span in ExportTraceServiceRequest.FromString(body).resource_spans[0].scope_spans[0].spans:
                print("span", span.name, "in trace", span.trace_id.hex()[:8], "under", span.parent_span_id.hex()[:4])
        elif self.path == "/v1/logs":
            for log in ExportLogsServiceRequest.FromString(body).resource_logs[0].scope_logs[0].log_records:
                print("log", log.event_name, log.severity_text, log.body.string_value)
        else:
            for metric in ExportMetricsServiceRequest.FromString(body).resource_metrics[0].scope_metrics[0].metrics:
                print("metric", metric.name)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Collector)
server.timeout = 60
with open("port", "w") as port:
    port.write(str(server.server_port))
for _ in range(3):
    server.handle_request()
