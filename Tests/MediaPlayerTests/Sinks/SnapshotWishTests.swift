import IoTCore
import NIOPosix
import Testing

@testable import MediaPlayer

@Suite struct SnapshotWishTests {
    @Test("A requester that leaves ends the wait, and no picture is encoded for it", .timeLimit(.minutes(1)))
    func cancelled() async {
        let wish = SnapshotWish(.jpeg, on: MultiThreadedEventLoopGroup.singleton.any())
        let asker = Task { try await wish.picture }
        asker.cancel()
        #expect(await asker.result.failure?.code == .messageTimeout)
        #expect(!wish.isOpen)
    }

    @Test("Only the first end counts")
    func firstEnd() async {
        let wish = SnapshotWish(.png, on: MultiThreadedEventLoopGroup.singleton.any())
        wish.end(.failure(IoTError(.channelDisconnected)))
        wish.end(.failure(IoTError(.mediaFailed)))
        #expect(await Task { try await wish.picture }.result.failure?.code == .channelDisconnected)
    }
}

extension Result {
    fileprivate var failure: IoTError? {
        if case .failure(let error) = self { error as? IoTError } else { nil }
    }
}
