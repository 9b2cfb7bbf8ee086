import GatewayAPI
import IoTCore
import IoTLink
import NIOCore

/// Media keys in the addresses of playlists, because players send no header. The same user of a device gets the same key
/// for some hours: the hub gives each account only some keys.
actor StorageKeys {
    struct Key: Sendable, Hashable {
        var device: String
        var text: String
    }

    private struct Use: Hashable {
        var account: AccessID
        var token: String?
        var device: String
    }

    private struct Known {
        var key: Key
        var until: NIODeadline
    }

    private static let lifetime: Int64 = 6 * 3_600
    private static let memory = TimeAmount.hours(3)
    private static let capacity = 1_024
    private var known: [Use: Known] = [:]

    /// A key for the recordings of a device, and nothing else. It ends with the caller's token.
    func key(of session: CallerSession, _ device: String) async throws -> Key {
        let entry = try await session.find(device)
        let use = Use(account: session.caller.account, token: session.token, device: entry.id)
        if let last = known[use], last.until > .now() {
            // It may have been revoked.
            if let token = BearerToken(last.key.text.utf8),
                (try? await session.gateway.tokens.caller(of: token, from: .local)) != nil
            {
                return last.key
            }
            known[use] = nil
        }
        let request = KeyRequest(
            name: "storage", devices: [entry.id], actions: [.playback], ttlSeconds: Self.lifetime)
        let made = try await session.keys.create(request, requestID: nil)
        let key = Key(device: entry.id, text: made.key)
        if known.count >= Self.capacity { known = known.filter { $0.value.until > .now() } }
        if known.count >= Self.capacity { known = [:] }
        known[use] = Known(key: key, until: .now() + Self.memory)
        return key
    }
}
