import IoTCore
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import MediaChannel

@Suite("Passing a source's events to the event loop")
struct SourceHandOffTests {
    private final class Handled: Sendable {
        private let pictures: Mutex<[Int64]> = Mutex([])

        func take(_ event: CameraSourceEvent) {
            switch event {
            case .frame(let frame): pictures.withLock { $0.append(frame.pts) }
            default: pictures.withLock { $0.append(-1) }
            }
        }

        /// The frames' times; −1 for another event.
        var all: [Int64] { pictures.withLock { $0 } }
    }

    private func frame(_ pts: Int64) -> CameraSourceEvent {
        .frame(MediaFrame(kind: .video, isKeyFrame: false, pts: pts, dts: pts, bytes: ByteBuffer()))
    }

    @Test("Frames that were read ahead are handled at their times; what follows does not overtake them")
    func order() {
        let loop = EmbeddedEventLoop()
        let handled = Handled()
        let handOff = SourceHandOff(loop) { handled.take($0) }
        handOff.take(.connecting, due: nil)
        loop.run()
        #expect(handled.all == [-1])
        let start = loop.now
        handOff.take(frame(1), due: start + .milliseconds(40))
        handOff.take(frame(2), due: start + .milliseconds(80))
        handOff.take(frame(3), due: start + .milliseconds(60))
        handOff.take(.connecting, due: nil)
        loop.advanceTime(by: .milliseconds(39))
        #expect(handled.all == [-1])
        loop.advanceTime(by: .milliseconds(1))
        #expect(handled.all == [-1, 1])
        loop.advanceTime(by: .milliseconds(40))
        #expect(handled.all == [-1, 1, 2, 3, -1])
    }

    @Test("After its end nothing is handled any more")
    func end() {
        let loop = EmbeddedEventLoop()
        let handled = Handled()
        let handOff = SourceHandOff(loop) { handled.take($0) }
        handOff.take(frame(1), due: loop.now + .milliseconds(40))
        handOff.end()
        loop.advanceTime(by: .seconds(1))
        #expect(handled.all.isEmpty)
    }
}
