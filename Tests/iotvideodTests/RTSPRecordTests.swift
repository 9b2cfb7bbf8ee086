import Foundation
import IoTCore
import Logging
import Testing

@testable import Gateway
@testable import RTSP
@testable import iotvideod

@Suite struct RTSPRecordTests {
    @Test("Refusals of players are in the audit log, without the URL's login and query; every request is counted")
    func record() async throws {
        try await withTemporaryDirectory { directory in
            let metrics = MetricsRegistry()
            let record = RTSPRecord(
                audit: AuditLog(directory: directory, logger: Logger(label: "test")), metrics: metrics)
            let cases: [(RTSPMethod, RTSPStatus, Int)] = [
                (.describe, .ok, 0), (.describe, .unauthorized, 25_004), (.setup, .forbidden, 25_005),
                (.setup, .notEnoughBandwidth, 20_007), (.play, .notFound, 0),
                (RTSPMethod(rawValue: "X-" + String(repeating: "y", count: 100)), .notImplemented, 0),
            ]
            for (method, status, code) in cases {
                record.write(
                    AnsweredRequest(
                        method: method, uri: "rtsp://viewer:hunter2@192.0.2.1:8554/front?token=abc", status: status,
                        code: code),
                    caller: nil, remote: "192.0.2.7")
            }
            let text = try String(contentsOfFile: directory + "/audit-refused.log", encoding: .utf8)
            let lines = try text.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
            #expect(lines.map { $0["status"]?.integerValue } == [401, 403, 453])
            #expect(lines.map { $0["code"]?.integerValue } == [25_004, 25_005, 20_007])
            #expect(lines.map { $0["method"]?.stringValue } == ["DESCRIBE", "SETUP", "SETUP"])
            #expect(lines.allSatisfy { $0["path"] == "/front" && $0["remote"] == "192.0.2.7" })
            for word in ["hunter2", "viewer", "abc"] { #expect(!text.contains(word)) }
            #expect(!FileManager.default.fileExists(atPath: directory + "/audit.log"))
            let counted = PrometheusText.write(metrics.samples())
            for line in [
                #"{method="DESCRIBE",status="200"} 1"#, #"{method="SETUP",status="453"} 1"#,
                #"{method="other",status="501"} 1"#,
            ] {
                #expect(counted.contains("iotvideod_rtsp_requests_total" + line))
            }
            #expect(!counted.contains("yyy"))
        }
    }
}
