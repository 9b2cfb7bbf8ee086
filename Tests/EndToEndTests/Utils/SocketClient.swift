import Foundation

/// HTTP/1.1 over a Unix socket, with a connection for each request: no library changes the bytes, and it is cheap
/// enough for thousands of requests, unlike a `curl` process for each.
struct SocketClient: Sendable {
    let socket: String

    struct Answer: Sendable {
        let status: Int
        let body: Data

        var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:]
        }

        /// The error's number in an `ErrorResponse`.
        var errorCode: Int? {
            (object["error"] as? [String: Any] ?? object)["code"] as? Int
        }

        var text: String { "\(status) \(String(decoding: body.prefix(300), as: UTF8.self))" }
    }

    enum Outcome: Sendable {
        case answered(Answer)
        /// The request was sent, and the connection broke or the time ran out before the complete answer.
        case cutOff
        /// The server does not listen, or not any more.
        case notSent
    }

    /// - Returns: `nil` without a complete answer, for whatever reason.
    func request(
        _ method: String, _ path: String, body: String? = nil, key: String? = nil, timeout: Int = 15
    ) async -> Answer? {
        if case .answered(let answer) = await exchange(method, path, body: body, key: key, timeout: timeout) {
            answer
        } else {
            nil
        }
    }

    func exchange(
        _ method: String, _ path: String, body: String? = nil, key: String? = nil, timeout: Int = 15
    ) async -> Outcome {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        if let key { head += "Idempotency-Key: \(key)\r\n" }
        if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n" }
        let text = head + "\r\n" + (body ?? "")
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: exchange(Array(text.utf8), timeout)) }
        }
    }

    private func exchange(_ request: [UInt8], _ timeout: Int) -> Outcome {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return .notSent }
        defer { close(descriptor) }
        var time = timeval(tv_sec: timeout, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        guard connect(descriptor), send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
        else { return .notSent }
        var received = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count != 0 {
            guard count > 0 else { return .cutOff }
            received.append(contentsOf: buffer[..<count])
        }
        return Self.parse(received).map { .answered($0) } ?? .cutOff
    }

    private func connect(_ descriptor: Int32) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(socket.utf8)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    /// Parses an answer; one that is shorter than its length says is incomplete.
    private static func parse(_ data: Data) -> Answer? {
        guard let end = data.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, let status = Int(words[1]) else { return nil }
        let body = Data(data[end.upperBound...])
        for line in lines where line.lowercased().hasPrefix("content-length:") {
            guard Int(line.dropFirst(15).trimmingCharacters(in: .whitespaces)) == body.count else { return nil }
        }
        return Answer(status: status, body: body)
    }
}

extension RunningDaemon {
    var socketClient: SocketClient { SocketClient(socket: folder.path("socket")) }
}
