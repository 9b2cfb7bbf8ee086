package import IoTCore
import Logging
package import NIOCore
package import RTP

/// Readers get the same packets as the camera's other viewers.
extension Camera {
    /// The tracks that readers of a definition get.
    ///
    /// - Throws: 25133 for a definition that the camera does not have; the source's error if it cannot be reached;
    ///   `messageTimeout` if it does not answer within 10 s.
    package func readerTracks(_ definition: Definition) async throws(IoTError) -> [RTPCodec] {
        try await stream.run { stream in
            let eventLoop = stream.eventLoop
            do throws(IoTError) {
                let rendition = try stream.definitions.choose([.named(definition)]).rendition
                let box = NIOLoopBound(rendition, eventLoop: eventLoop)
                return rendition.untilReady().map { box.value.readerTracks.map(\.codec) }
            } catch {
                return eventLoop.makeFailedFuture(error)
            }
        }
    }

    /// Adds a reader, which counts as a viewer of the camera.
    ///
    /// - Parameters:
    ///   - account: The account of the reader.
    ///   - isOwner: Whether the account owns the device.
    /// - Throws: `allChannelsBusy`, `cameraOff`.
    package func addReader(
        _ definition: Definition, account: String, isOwner: Bool, sink: any ReaderSink
    ) async throws(IoTError) -> CameraReader {
        // The source may have been closed since the player learned its tracks.
        try await stream.run { stream in stream.untilReady(ViewerWish(definitions: [.named(definition)])) }
        let session = Hex.random(byteCount: 8)
        return try await stream.run { stream in
            stream.eventLoop.makeCompletedFuture {
                let reader = StreamReader(
                    session: session, account: account, isOwner: isOwner, stream: stream,
                    rendition: try stream.definitions.choose([.named(definition)]).rendition, sink: sink)
                try stream.add(reader)
                do throws(IoTError) {
                    try stream.takePlace(session: session)
                } catch {
                    stream.remove(session: session)
                    throw error
                }
                stream.logger.info(
                    "viewer connected", metadata: ["viewer.user": "\(account)", "viewer.session": "\(session)"])
                return CameraReader(reader, on: stream.eventLoop)
            }
        }
    }
}

/// A reader of a camera, for use from outside the camera's event loop.
package final class CameraReader: Sendable {
    private let reader: NIOLoopBound<StreamReader>
    private let eventLoop: any EventLoop

    init(_ reader: StreamReader, on eventLoop: any EventLoop) {
        self.reader = NIOLoopBound(reader, eventLoop: eventLoop)
        self.eventLoop = eventLoop
    }

    /// - Throws: `invalidParameter` for a track that the camera does not have.
    package func add(_ track: ReaderTrack) async throws {
        try await eventLoop.submit { [reader] in try reader.value.add(track) }.get()
    }

    /// Determines where each track starts. `play` sends from that start.
    package func prepare() async throws -> [ReaderStart] {
        try await eventLoop.submit { [reader, eventLoop] in reader.value.prepare(at: eventLoop.now) }.get()
    }

    package func play() {
        eventLoop.execute { [reader, eventLoop] in reader.value.play(at: eventLoop.now) }
    }

    package func pause() {
        eventLoop.execute { [reader] in reader.value.stop() }
    }

    /// Ends the reader without notifying its sink.
    package func leave() {
        eventLoop.execute { [reader] in reader.value.hungUp() }
    }

    /// Ends the reader with an RTCP BYE, and notifies its sink.
    package func end(_ reason: IoTError) async {
        try? await eventLoop.submit { [reader] in reader.value.end(reason) }.get()
    }

    /// Processes an RTCP packet of the player.
    package func receive(_ report: ByteBuffer, index: Int) {
        eventLoop.execute { [reader, eventLoop] in
            reader.value.receive(report, index: index, at: eventLoop.now)
        }
    }
}
