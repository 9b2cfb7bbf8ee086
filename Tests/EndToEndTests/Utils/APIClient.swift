import Foundation
import Testing

/// Requests to a daemon's HTTP API by curl, which shares no code with the product.
struct APIClient {
    /// `nil` sends requests over TCP.
    var socket: String?
    var origin = "http://localhost"
    var token: String?

    struct Answer {
        let status: Int
        let body: Data

        var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:]
        }
    }

    func request(
        _ method: String, _ path: String, body: String? = nil, headers: [String] = []
    ) async throws -> Answer {
        var arguments = ["-s", "--max-time", "20", "-X", method, "-w", "\n%{http_code}"]
        if let socket { arguments += ["--unix-socket", socket] }
        if let token { arguments += ["-H", "Authorization: Bearer \(token)"] }
        for header in headers { arguments += ["-H", header] }
        if let body {
            if !headers.contains(where: { $0.hasPrefix("Content-Type:") }) {
                arguments += ["-H", "Content-Type: application/json"]
            }
            arguments += ["--data-binary", body]
        }
        let outcome = try await Program.named("curl", arguments + [origin + path]).run()
        guard let newline = outcome.output.lastIndex(of: UInt8(ascii: "\n")) else {
            return Answer(status: 0, body: Data())
        }
        let status = Int(String(decoding: outcome.output[(newline + 1)...], as: UTF8.self)) ?? 0
        return Answer(status: status, body: Data(outcome.output[..<newline]))
    }

    /// Writes a property; returns whether the write was acknowledged.
    func write(_ device: String, _ path: String, _ value: String, key: String) async throws -> Bool {
        let answer = try await request(
            "PUT", "/v1/devices/\(device)/properties?path=\(path)", body: value, headers: ["Idempotency-Key: \(key)"])
        return answer.status == 200
    }

    func read(_ device: String, _ path: String) async throws -> Any? {
        try await request("GET", "/v1/devices/\(device)/properties?path=\(path)").object["value"]
    }
}

extension RunningDaemon {
    var api: APIClient { APIClient(socket: folder.path("socket")) }

    /// The API over TCP, at the port that the kernel assigned; the configuration has `api.listen: 127.0.0.1:0`.
    func tcpAPI(token: String? = nil) throws -> APIClient {
        let said = try #require(log.firstMatch(of: /api\.port="?(\d+).*the API listens/))
        return APIClient(socket: nil, origin: "http://127.0.0.1:\(said.1)", token: token)
    }
}
