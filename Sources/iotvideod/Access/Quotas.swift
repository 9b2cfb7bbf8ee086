import IoTCore
import Synchronization

/// Which account has how much of what all share.
final class Quotas: Sendable {
    private let state: Mutex<[SharedResource: Quota<AccountHolder>]>

    init() {
        state = Mutex(
            Dictionary(uniqueKeysWithValues: SharedResource.allCases.map { ($0, Quota($0.bound)) }))
    }

    /// A changed configuration; what is held stays.
    func set(_ bound: QuotaBound, of resource: SharedResource) {
        state.withLock { $0[resource]?.bound = bound }
    }

    func apply(_ channels: Configuration.Channels) {
        set(SharedResource.channelBound(channels.connections), of: .channels)
        set(SharedResource.callBound(channels.calls), of: .calls)
    }

    /// - Returns: the part, which is held as long as it is kept.
    /// - Throws: 25024 or 21020.
    func take(_ resource: SharedResource, for holder: AccountHolder) throws(IoTError) -> QuotaPart {
        do throws(Quota<AccountHolder>.Refusal) {
            try state.withLock { state throws(Quota<AccountHolder>.Refusal) in try state[resource]?.take(for: holder) }
        } catch {
            throw error.error(resource.words, code: resource.code, remedy: resource.remedy)
        }
        return QuotaPart { [weak self] in self?.state.withLock { $0[resource]?.giveBack(holder) } }
    }

    var table: [SharedResource: Quota<AccountHolder>] { state.withLock { $0 } }
}

/// A part of a shared resource, which is given back when nobody keeps it any more.
final class QuotaPart: Sendable {
    private let giveBack: @Sendable () -> Void

    init(giveBack: @escaping @Sendable () -> Void) {
        self.giveBack = giveBack
    }

    deinit { giveBack() }
}
