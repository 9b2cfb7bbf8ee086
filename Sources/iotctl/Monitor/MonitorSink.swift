import AsyncHTTPClient
import Foundation
import GatewayAPI
import IoTCore
import NIOCore

/// One streaming body of a channel on its way into a file.
struct MonitorSink: Sendable {
    enum Kind: String, Sendable, Codable {
        case recording
        case rawVideo
        case rawAudio
    }

    let kind: Kind
    let output: FileOutput
    private let body: HTTPClientResponse.Body

    /// Returns when the daemon feeds the body, so that nothing of what follows is missing in it.
    static func open(
        _ kind: Kind, channel: String, frames: Int?, path: String, client: GatewayClient
    ) async throws -> MonitorSink {
        let count: KeyValuePairs = ["frames": frames.map { String($0) }]
        let target =
            switch kind {
            case .recording: APIPath("v1", "channels", channel, "recording.mp4", query: count)
            case .rawVideo: APIPath("v1", "channels", channel, "video.y4m", query: count)
            case .rawAudio: APIPath("v1", "channels", channel, "audio.wav", query: count)
            }
        // The file first: a path that cannot be written needs no stream.
        let output = try await FileOutput.open(path)
        return MonitorSink(kind: kind, output: output, body: try await client.open(target))
    }

    /// Copies to the end.
    ///
    /// - Throws: `.fileFailed`; `.channelDisconnected` when the daemon broke the body off; `.messageTimeout` when
    ///   nothing came: an empty file is a failure.
    func run() async throws {
        do {
            for try await buffer in body { try await output.write(Array(buffer.readableBytesView)) }
        } catch is ReaderLeft {
            // The program that reads the pipe has what it wanted.
            return try await output.close()
        } catch let error as IoTError {
            throw error
        } catch {
            try? await output.close()
            if output.size == 0 { throw nothingCame }
            // The client's own error, or its HTTP parser's for a body without its last chunk.
            throw IoTError(.channelDisconnected, "the \(kind.words) broke off", underlying: error)
        }
        try await output.close()
        if output.size == 0 { throw nothingCame }
    }

    private var nothingCame: IoTError {
        IoTError(
            .messageTimeout, "the \(kind.words) is empty: nothing came from the camera while it ran",
            remedy: "look at the camera's state with `iotctl device list`, or let it run longer")
    }
}

extension MonitorSink.Kind {
    var words: String {
        switch self {
        case .recording: "recording"
        case .rawVideo: "raw video"
        case .rawAudio: "raw audio"
        }
    }
}
