import NIOCore

// Responses of the server (RFC 8656 §7.3, §7.4, §8.3, §10.3, §12.2).
extension TURNClient {
    mutating func receiveResponse(_ message: STUNMessage, at now: NIODeadline) {
        guard let request = requests[message.transactionID] else { return }
        if message.messageClass == .errorResponse {
            // An error response with a hash must have the right one, unless it is a challenge. One without a hash is
            // accepted, although RFC 8489 §9.2.5 says to discard it: to forge it, an attacker must see the request, and
            // could drop it, too.
            guard !message.hasIntegrity || credential.isAuthentic(message) || Self.isChallenge(message) else { return }
            requests[message.transactionID] = nil
            receiveError(message, request, at: now)
        } else {
            guard !request.isSigned || credential.isAuthentic(message), message.unknownRequiredAttributes.isEmpty
            else { return }
            requests[message.transactionID] = nil
            receiveSuccess(message, request.kind, at: now)
        }
    }

    private static func isChallenge(_ message: STUNMessage) -> Bool {
        message.errorCode == 401 || message.errorCode == 438
    }

    // MARK: Success

    private mutating func receiveSuccess(_ message: STUNMessage, _ kind: Request.Kind, at now: NIODeadline) {
        switch kind {
        case .allocate:
            allocated(message, at: now)
        case .refresh:
            keepAlive(message.lifetime, at: now)
        case .permission(let peer):
            let key = peer.packedIPBytes
            guard permissions[key] != nil else { return }
            permissions[key] = .granted(refreshAt: now + Self.permissionRefresh)
            sendHeld(to: key, at: now)
        case .channel(let number, let peer):
            guard channels[peer]?.number == number else { return }
            channels[peer]?.isBound = true
            channels[peer]?.refreshAt = now + Self.channelRefresh
            // A binding also grants a permission, but renewals of the permission itself keep it alive between bindings.
            let key = peer.packedIPBytes
            if permissions[key] != .refused { permissions[key] = .granted(refreshAt: now + Self.permissionRefresh) }
            sendHeld(to: key, at: now)
        }
    }

    private mutating func allocated(_ message: STUNMessage, at now: NIODeadline) {
        guard state == .allocating else { return }
        var addresses: [SocketAddress] = []
        for address in message.relayedAddresses
        where address.isReachableUnicast && !addresses.contains(where: { $0.isIPv4 == address.isIPv4 }) {
            addresses.append(address)
        }
        guard !addresses.isEmpty else {
            return fail(.noAnswer("the TURN server returned no usable relay address"))
        }
        state = .allocated
        relayedAddresses = addresses
        outputs.append(.event(.allocated(addresses, mapped: message.mappedAddress)))
        keepAlive(message.lifetime, at: now)
    }

    /// Refreshes after three quarters of the lifetime: 7.5 of the usual 10 minutes.
    private mutating func keepAlive(_ lifetime: UInt32?, at now: NIODeadline) {
        let seconds = min(lifetime ?? 600, 3600)
        guard seconds >= 20 else {
            return fail(.noAnswer("the TURN server grants a relay lifetime of less than 20 s"))
        }
        refreshAt = now + .milliseconds(Int64(seconds) * 750)
    }

    // MARK: Errors

    private mutating func receiveError(_ message: STUNMessage, _ request: Request, at now: NIODeadline) {
        let failure = TURNFailure(code: message.errorCode ?? 0, text: message.errorReason ?? "")
        switch failure.code {
        case 401:
            // For a signed request, 401 means that the credential is wrong. A new realm may need another key.
            guard !request.isSigned || message.realm != credential.realm else { return deny(request.kind, failure) }
            challenge(message, request, failure, at: now)
        case 438:
            challenge(message, request, failure, at: now)
        case 300 where request.kind == .allocate:
            guard let other = message.alternateServer, other.isReachableUnicast else {
                return fail(failure)
            }
            end()
            outputs.append(.event(.redirected(other)))
        case 420 where request.kind == .allocate && families.count > 1,
            440 where request.kind == .allocate && families.count > 1:
            families.removeFirst()
            self.request(.allocate, at: now)
        default:
            deny(request.kind, failure)
        }
    }

    private mutating func challenge(
        _ message: STUNMessage, _ request: Request, _ failure: TURNFailure, at now: NIODeadline
    ) {
        guard request.challenges < Self.maximumChallenges, credential.takeChallenge(message) else {
            return deny(request.kind, failure)
        }
        self.request(request.kind, challenges: request.challenges + 1, at: now)
    }

    private mutating func deny(_ kind: Request.Kind, _ failure: TURNFailure) {
        switch kind {
        // 437 on a refresh: the allocation no longer exists.
        case .allocate, .refresh: fail(failure)
        case .permission(let peer): permissionRefused(peer, failure)
        case .channel(_, let peer): forgetChannel(of: peer)
        }
    }
}
