import AsyncHTTPClient
import Foundation
import GatewayAPI
import IoTCore
import NIOCore

/// One streamed HTTP response of a channel, written to a file.
struct MonitorSink: Sendable {
    enum Kind: String, Sendable, Codable {
        case recording
        case rawVideo
        case rawAudio
        // The parts of a dump, named as in `DumpPart`.
        case receivedVideo, receivedAudio
        case intoDecoderVideo, intoDecoderAudio
        case outOfDecoderVideo, outOfDecoderAudio

        init(_ part: DumpPart) {
            self =
                switch part {
                case .receivedVideo: .receivedVideo
                case .receivedAudio: .receivedAudio
                case .intoDecoderVideo: .intoDecoderVideo
                case .intoDecoderAudio: .intoDecoderAudio
                case .outOfDecoderVideo: .outOfDecoderVideo
                case .outOfDecoderAudio: .outOfDecoderAudio
                }
        }

        /// `nil` for a sink that is not part of a dump.
        var dumpPart: DumpPart? { DumpPart(rawValue: rawValue) }
    }

    let kind: Kind
    let output: FileOutput
    private let body: HTTPClientResponse.Body

    /// Returns when the daemon has attached the body to the channel, so that it misses no later frame.
    static func open(
        _ kind: Kind, channel: String, plan: MonitorPlan, path: String, client: GatewayClient
    ) async throws -> MonitorSink {
        let frames = plan.frames.map { String($0) }
        let target =
            switch kind {
            case .recording: APIPath("v1", "channels", channel, "recording.mp4", query: ["frames": frames])
            case .rawVideo:
                APIPath(
                    "v1", "channels", channel, "video.y4m",
                    query: ["frames": frames, "size": plan.size, "scaling": plan.scaling?.rawValue])
            case .rawAudio: APIPath("v1", "channels", channel, "audio.wav", query: ["frames": frames])
            case .receivedVideo, .receivedAudio, .intoDecoderVideo, .intoDecoderAudio, .outOfDecoderVideo,
                .outOfDecoderAudio:
                APIPath("v1", "channels", channel, "dump", query: ["part": kind.rawValue])
            }
        // The file is opened first: if it cannot be written, no stream is needed.
        let output = try await FileOutput.open(path, mode: kind.dumpPart == nil ? nil : 0o600)
        return MonitorSink(kind: kind, output: output, body: try await client.open(target))
    }

    /// Copies the body until it ends.
    ///
    /// - Throws: `.fileFailed`; `.messageTimeout` if no byte came, whatever the reason; otherwise
    ///   `.channelDisconnected` if the connection broke before the end.
    func run() async throws {
        do {
            for try await buffer in body { try await output.write(Array(buffer.readableBytesView)) }
        } catch is ReaderLeft {
            // The reader of the pipe has ended, which is not an error.
            return try await output.close()
        } catch let error as IoTError {
            try? await output.close()
            throw error
        } catch {
            try? await output.close()
            if output.size == 0, kind.dumpPart == nil { throw nothingCame }
            // An error of the client, or of its HTTP parser for a body without the last chunk.
            throw IoTError(.channelDisconnected, "the \(kind.words) broke off", underlying: error)
        }
        try await output.close()
        // An empty dump shows that nothing passed its point.
        if output.size == 0, kind.dumpPart == nil { throw nothingCame }
    }

    private var nothingCame: IoTError {
        IoTError(
            .messageTimeout, "the \(kind.words) is empty: the camera sent nothing during the run",
            remedy: "check the camera's state with `iotctl device list`, or run longer")
    }
}

extension MonitorSink.Kind {
    var words: String {
        switch self {
        case .recording: "recording"
        case .rawVideo: "raw video"
        case .rawAudio: "raw audio"
        case .receivedVideo: "received video"
        case .receivedAudio: "received audio"
        case .intoDecoderVideo: "video for the decoder"
        case .intoDecoderAudio: "audio for the decoder"
        case .outOfDecoderVideo: "decoded video"
        case .outOfDecoderAudio: "decoded audio"
        }
    }
}
