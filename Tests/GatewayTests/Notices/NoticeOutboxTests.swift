import GatewayAPI
import IoTCore
import NIOCore
import Testing

@testable import Gateway

@Suite struct NoticeOutboxTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func notice(_ device: Int, _ event: OfflineNotice.Event = .offline) -> OfflineNotice {
        OfflineNotice(event, device: "\(device)", name: "n", account: "bob", t: 0)
    }

    @Test("One notice is sent at a time, in order; a newer state of a device replaces one that waits")
    func order() {
        var outbox = NoticeOutbox()
        outbox.add(notice(1))
        outbox.add(notice(2))
        #expect(outbox.begin(at: start) == notice(1))
        #expect(outbox.begin(at: start) == nil)
        #expect(!outbox.isOutdated(notice(1)))
        outbox.add(notice(1, .online))
        #expect(outbox.isOutdated(notice(1)))
        outbox.add(notice(2, .online))
        outbox.finish(IoTError(.sourceUnreachable))
        #expect(outbox.failure?.code == .sourceUnreachable)
        #expect(outbox.begin(at: start) == notice(1, .online))
        outbox.finish(nil)
        #expect(outbox.begin(at: start) == notice(2, .online))
        outbox.finish(nil)
        #expect(outbox.begin(at: start) == nil && outbox.failure == nil)
        #expect((outbox.sent, outbox.failed, outbox.dropped) == (2, 1, 0))
    }

    @Test("With too many devices the oldest notice is left out, and counted")
    func bound() {
        var outbox = NoticeOutbox()
        for device in 0..<(NoticeOutbox.maximumWaiting + 3) { outbox.add(notice(device)) }
        #expect(outbox.dropped == 3)
        #expect(outbox.begin(at: start) == notice(3))
    }

    @Test("Beyond the number of an hour, notices are left out until the hour is over")
    func quota() {
        var outbox = NoticeOutbox()
        for number in 0..<NoticeOutbox.maximumPerHour {
            outbox.add(notice(1))
            #expect(outbox.begin(at: start + .seconds(Int64(number))) != nil)
            outbox.finish(nil)
        }
        outbox.add(notice(1))
        #expect(outbox.begin(at: start + .minutes(59)) == nil && outbox.dropped == 1)
        outbox.add(notice(1))
        #expect(outbox.begin(at: start + .hours(1)) != nil)
    }
}
