import IoTLink

/// A credential that a client showed to a gateway, and the gateway checked at the hub.
enum ShownCredential: Sendable, Hashable {
    /// An API token.
    case token(String)
    /// A media key.
    case key(String)
}

/// When API tokens and media keys were last used. A use is noted in memory and stored at the next time-out, because a
/// check itself writes nothing.
extension HubCore {
    /// Seconds between two noted uses of a credential.
    static let useStep: Int64 = 60

    mutating func noteUse(of shown: ShownCredential, after last: Int64?, at time: HubTime) {
        if let last, time.seconds < last + Self.useStep { return }
        used[shown] = time.seconds
        setLastUse(of: shown, time.seconds)
    }

    mutating func storeUses() {
        for shown in used.keys {
            if let time = lastUse(of: shown) { turn.changes.append(.use(shown, at: time)) }
        }
        used = [:]
    }

    /// The store does not have these uses yet, so they are added to its state.
    mutating func restoreUses() {
        for (shown, time) in used { setLastUse(of: shown, time) }
    }

    private mutating func setLastUse(of shown: ShownCredential, _ time: Int64) {
        switch shown {
        case .token(let id): state.tokens.update(id) { $0.lastUse = time }
        case .key(let id): state.keys.update(id) { $0.lastUse = time }
        }
    }

    private func lastUse(of shown: ShownCredential) -> Int64? {
        switch shown {
        case .token(let id): state.tokens[id]?.lastUse
        case .key(let id): state.keys[id]?.lastUse
        }
    }
}
