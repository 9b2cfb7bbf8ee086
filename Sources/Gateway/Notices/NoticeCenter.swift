import Dispatch
import GatewayAPI
package import IoTCore
import NIOCore

/// Tells accounts by a webhook of theirs that a device goes offline or online. One webhook for each account.
package actor NoticeCenter {
    /// Further accounts get none.
    static let maximum = 128
    /// The largest number of notices that are being sent at once.
    static let maximumSenders = 8
    /// The pauses before the second and the third attempt, which is the last one.
    static let pauses: [Duration] = [.seconds(2), .seconds(20)]

    typealias Pause = @Sendable (Duration) async throws -> Void

    private struct Target {
        var receiver: NoticeReceiver
        var outbox = NoticeOutbox()
        /// Distinguishes it from an earlier one of the account.
        var number: Int
    }

    private let path: String?
    private let sender: any NoticeSender
    private let pause: Pause
    /// Writes the file.
    private let queue = DispatchQueue(label: "notices")
    private var targets: [AccessID: Target] = [:]
    private var nextNumber = 0
    private var senders = 0

    /// - Parameter path: the file with the webhooks, mode 0600, because a URL can contain a secret.
    /// - Throws: `fileFailed`, `invalidConfiguration`.
    package init(path: String, sender: any NoticeSender) throws(IoTError) {
        self.init(path: path, receivers: try NoticeReceiver.load(path), sender: sender) {
            try await Task.sleep(for: $0)
        }
    }

    init(path: String?, receivers: [NoticeReceiver] = [], sender: any NoticeSender, pause: @escaping Pause) {
        self.path = path
        self.sender = sender
        self.pause = pause
        for receiver in receivers.prefix(Self.maximum) {
            targets[receiver.account] = Target(receiver: receiver, number: nextNumber)
            nextNumber += 1
        }
    }

    // MARK: Webhooks

    func description(of account: AccessID) -> NoticeDescription? {
        guard let target = targets[account] else { return nil }
        return NoticeDescription(
            url: target.receiver.url, sent: target.outbox.sent, failed: target.outbox.failed,
            dropped: target.outbox.dropped, failure: target.outbox.failure)
    }

    /// - Throws: `tooManyRequests`, `fileFailed`; then nothing has changed.
    func set(_ receiver: NoticeReceiver) async throws(IoTError) {
        guard targets[receiver.account] != nil || targets.count < Self.maximum else {
            throw IoTError(.tooManyRequests, "\(Self.maximum) accounts have a webhook already")
        }
        let before = targets[receiver.account]
        targets[receiver.account] = Target(receiver: receiver, number: nextNumber)
        nextNumber += 1
        do throws(IoTError) {
            try await save()
        } catch {
            targets[receiver.account] = before
            throw error
        }
    }

    func remove(_ account: AccessID) async throws(IoTError) {
        guard let before = targets.removeValue(forKey: account) else { return }
        do throws(IoTError) {
            try await save()
        } catch {
            targets[account] = before
            throw error
        }
    }

    private func save() async throws(IoTError) {
        guard let path else { return }
        let receivers = targets.values.map(\.receiver)
        let result = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(
                    returning: Result { () throws(IoTError) in try NoticeReceiver.save(receivers, to: path) })
            }
        }
        try result.get()
    }

    // MARK: Notices

    /// Reads the feed until it ends.
    ///
    /// - Parameters:
    ///   - place: The place in the feed after which it begins; `nil` for the newest one.
    ///   - name: the device's name, if the account may view it and wants notices about it; otherwise `nil`.
    func run(
        _ feed: EventFeed, after place: UInt64? = nil, name: @escaping @Sendable (AccessID, String) async -> String?
    ) async {
        await withDiscardingTaskGroup { group in
            var place = place ?? feed.newest
            reading: while !Task.isCancelled {
                switch await feed.step(after: place) {
                case .entry(let entry):
                    place = entry.place
                    guard case .presence(let presence) = entry.event, case .viewers = entry.audience else { continue }
                    for account in targets.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
                        guard let name = await name(account, presence.device) else { continue }
                        targets[account]?.outbox.add(
                            OfflineNotice(
                                presence.online ? .online : .offline, device: presence.device, name: name,
                                account: account.rawValue, t: WallClock.milliseconds()))
                    }
                    group.addTask { await self.drain() }
                case .overtaken: place = feed.newest
                case .ended: break reading
                }
            }
            group.cancelAll()
        }
    }

    /// Sends what waits, together with the other senders, until nothing is left for this one.
    private func drain() async {
        guard senders < Self.maximumSenders else { return }
        senders += 1
        defer { senders -= 1 }
        while !Task.isCancelled, let (target, notice) = next() {
            let error = await deliver(notice, target)
            guard targets[target.receiver.account]?.number == target.number else { continue }
            targets[target.receiver.account]?.outbox.finish(error)
        }
    }

    private func next() -> (Target, OfflineNotice)? {
        for (account, target) in targets {
            if let notice = targets[account]?.outbox.begin(at: .now()) { return (target, notice) }
        }
        return nil
    }

    /// - Returns: why the receiver has not taken the notice.
    private func deliver(_ notice: OfflineNotice, _ target: Target) async -> IoTError? {
        guard let url = ServiceURL(target.receiver.url) else { return IoTError(.invalidRequest) }
        for pause in Self.pauses.map(Optional.some) + [nil] {
            do throws(NoticeFailure) {
                try await sender.send(notice, to: url, allowsPrivate: target.receiver.allowsPrivate)
                return nil
            } catch {
                let current = targets[target.receiver.account]
                let isWanted = current?.number == target.number && current?.outbox.isOutdated(notice) == false
                guard !error.isFinal, isWanted, let pause, (try? await self.pause(pause)) != nil else {
                    return error.error
                }
            }
        }
        return nil
    }
}
