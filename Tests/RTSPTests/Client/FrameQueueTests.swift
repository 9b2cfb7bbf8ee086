import IoTCore
import NIOCore
import Synchronization
import Testing

@testable import RTSP

@Suite struct FrameQueueTests {
    private static let frame = MediaFrame(
        kind: .video, isKeyFrame: true, pts: 0, dts: 0, bytes: ByteBuffer(bytes: [0, 0, 0, 1, 0x65]))

    @Test("If the reader takes the frames while the full queue stops reading, reading resumes")
    func reordered() throws {
        let queue = FrameQueue()
        let state = Mutex((isReading: true, changes: 0))
        queue.onChange = {
            let number = state.withLock { state in
                state.changes += 1
                return state.changes
            }
            // The reader's thread runs between the queue's decision and its effect.
            if number == 1 {
                for _ in 0..<FrameQueue.maximumCount { _ = try? queue.waitForFrame() }
            }
            let isReading = queue.wantsFrames
            state.withLock { $0.isReading = isReading }
        }
        for _ in 0..<FrameQueue.maximumCount { queue.take(.frame(Self.frame)) }
        #expect(state.withLock { $0.changes } == 2)
        #expect(state.withLock { $0.isReading } && queue.wantsFrames)
    }
}
