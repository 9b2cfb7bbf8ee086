package import IoTCore
import Logging
package import NIOCore
package import RTP

/// Readers of a local camera's packets: the same packets that its other viewers get.
extension Camera {
    /// The tracks that readers get.
    ///
    /// - Throws: the source's error if it cannot be reached now; `.messageTimeout` if it does not answer in time.
    package func readerTracks() async throws(IoTError) -> [RTPCodec] {
        try await stream.run { stream in
            let eventLoop = stream.eventLoop
            let box = NIOLoopBound(stream, eventLoop: eventLoop)
            let ready = stream.untilReady()
            let late = eventLoop.makePromise(of: Void.self)
            let timer = eventLoop.scheduleTask(in: .seconds(10)) {
                late.fail(IoTError(.messageTimeout, "the camera's source did not answer in time"))
            }
            ready.cascade(to: late)
            return late.futureResult.map {
                timer.cancel()
                return box.value.readerTracks.map(\.codec)
            }
        }
    }

    /// Adds a reader, which takes one of the camera's places.
    ///
    /// - Parameters:
    ///   - account: whose reader it is.
    ///   - isOwner: whether the account owns the device.
    /// - Throws: `allChannelsBusy`, `cameraOff`.
    package func addReader(
        account: String, isOwner: Bool, sink: any ReaderSink
    ) async throws(IoTError) -> CameraReader {
        let session = Hex.random(byteCount: 8)
        return try await stream.run { stream in
            stream.eventLoop.makeCompletedFuture {
                let reader = StreamReader(
                    session: session, account: account, isOwner: isOwner, stream: stream, sink: sink)
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

    /// Fixes where each track starts. `play` sends from there on.
    package func prepare() async throws -> [ReaderStart] {
        try await eventLoop.submit { [reader, eventLoop] in reader.value.prepare(at: eventLoop.now) }.get()
    }

    package func play() {
        eventLoop.execute { [reader, eventLoop] in reader.value.play(at: eventLoop.now) }
    }

    package func pause() {
        eventLoop.execute { [reader] in reader.value.stop() }
    }

    /// Ends the reader without notice to its sink.
    package func leave() {
        eventLoop.execute { [reader] in reader.value.hungUp() }
    }

    /// An RTCP packet of the player.
    package func receive(_ report: ByteBuffer, index: Int) {
        eventLoop.execute { [reader, eventLoop] in
            reader.value.receive(report, index: index, at: eventLoop.now)
        }
    }
}
