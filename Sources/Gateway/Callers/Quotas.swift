package import IoTCore
import Synchronization

/// How much of each shared resource every account uses.
package final class Quotas: Sendable {
    private let state: Mutex<[SharedResource: Quota<AccountHolder>]>

    package init() {
        state = Mutex(
            Dictionary(uniqueKeysWithValues: SharedResource.allCases.map { ($0, Quota($0.bound)) }))
    }

    /// Applies a changed configuration. Parts that are in use stay.
    package func set(_ bound: QuotaBound, of resource: SharedResource) {
        state.withLock { $0[resource]?.bound = bound }
    }

    /// Applies `channels.connections` and `channels.calls` of the configuration.
    package func apply(connections: Int, calls: Int) {
        set(SharedResource.channelBound(connections), of: .channels)
        set(SharedResource.callBound(calls), of: .calls)
    }

    /// - Returns: the part, which is returned when its last reference is released.
    /// - Throws: 25024 or 21020.
    package func take(_ resource: SharedResource, for holder: AccountHolder) throws(IoTError) -> QuotaPart {
        do throws(Quota<AccountHolder>.Refusal) {
            try state.withLock { state throws(Quota<AccountHolder>.Refusal) in try state[resource]?.take(for: holder) }
        } catch {
            throw error.error(resource.words, code: resource.code, remedy: resource.remedy)
        }
        return QuotaPart { [weak self] in self?.state.withLock { $0[resource]?.giveBack(holder) } }
    }

    var table: [SharedResource: Quota<AccountHolder>] { state.withLock { $0 } }
}

/// A part of a shared resource. It is returned when the last reference is released.
package final class QuotaPart: Sendable {
    private let giveBack: @Sendable () -> Void

    init(giveBack: @escaping @Sendable () -> Void) {
        self.giveBack = giveBack
    }

    deinit { giveBack() }
}
