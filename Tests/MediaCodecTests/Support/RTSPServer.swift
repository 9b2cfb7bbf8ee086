import Foundation
import TestSupport

/// GStreamer's RTSP server. Serves one file until this object is released.
final class RTSPServer {
    private let process = Process()
    private let input = Pipe()
    let port: Int

    init(file: String, _ options: [String] = []) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [Clips.supportFolder + "/rtsp_server.py", file] + options
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data([10]) {
            guard !byte.isEmpty else { break }
            line += byte
        }
        guard let port = Int(String(decoding: line, as: UTF8.self)) else {
            process.terminate()
            throw FFmpegTool.Failure(
                description: "the RTSP server did not start; is gir1.2-gst-rtsp-server-1.0 installed?")
        }
        self.port = port
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    var url: String { "rtsp://127.0.0.1:\(port)/camera" }
}

/// A TCP port that accepts connections and never sends anything.
final class SilentServer: Sendable {
    private let descriptor: Int32
    let port: Int

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && listen(descriptor, 4) == 0
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard result else { throw FFmpegTool.Failure(description: "no free port") }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
        close(descriptor)
    }

    /// Returns when a client has connected.
    func waitForClient() {
        _ = accept(descriptor, nil, nil)
    }
}
