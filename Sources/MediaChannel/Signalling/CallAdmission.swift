import IoTCore
import IoTLink

/// Decides whether a device takes a call that its hub forwards. It relies only on the claims in the call's token, after
/// checking the token's signature.
struct CallAdmission {
    /// The tolerated difference of clocks, s.
    static let leeway: Int64 = 60

    let device: DeviceID
    let offered: Set<ChannelKind>

    /// Returns the caller's rights.
    ///
    /// - Parameters:
    ///   - caller: the caller that the hub names.
    ///   - keys: the hub's keys for signing tokens. `nil` if the hub gives its devices no keys and sends no call
    ///     tokens: then the device relies on the hub's grant.
    ///   - local: the caller's rights, for a call over the device's own network. No token is needed then.
    ///   - now: s since 1970, on the hub's clock.
    /// - Throws: 20010 for a token that the hub did not sign, that has expired, or that is for something else; 20006
    ///   without a token, or with one that does not allow viewing, talking in a live call, control in a
    ///   transmission, or playing recordings; 21040 for a kind of channel that the device does not offer.
    func grant(
        of call: CallRequest, from caller: Principal?, keys: TokenKeys?, local: LANGrantClaims? = nil, at now: Int64
    ) throws(IoTError) -> CallGrant {
        let grant =
            if let local {
                CallGrant(local, kind: call.kind)
            } else if let keys {
                try check(call, caller, keys, at: now)
            } else {
                try vouched(call)
            }
        guard offered.contains(call.kind) else {
            let names = ChannelKind.allCases.filter(offered.contains).map(\.name)
            throw IoTError(
                .operationNotAllowed, "the device offers no \(call.kind.name) channels",
                remedy: "open a channel of another kind: \(names.joined(separator: " or "))")
        }
        if call.kind == .playback {
            guard grant.actions.contains(.playback) else {
                throw IoTError(.callTokenRejected, "the call's token does not allow playing recordings")
            }
            return grant
        }
        if call.kind == .transmission {
            guard grant.actions.contains(.control) else {
                throw IoTError(.callTokenRejected, "the call's token does not allow control, which data need")
            }
            return grant
        }
        guard grant.actions.contains(.view) else {
            throw IoTError(.callTokenRejected, "the call's token does not allow viewing")
        }
        // The camera's owner sees and hears the caller.
        guard call.kind != .live || grant.actions.contains(.talk) else {
            throw IoTError(.callTokenRejected, "the call's token does not allow talking, which a live call needs")
        }
        return grant
    }

    private func check(
        _ call: CallRequest, _ caller: Principal?, _ keys: TokenKeys, at now: Int64
    ) throws(IoTError) -> CallGrant {
        guard let token = call.token else {
            throw IoTError(.callTokenRejected, "the call has no token")
        }
        guard let payload = keys.payload(of: token),
            let claims = try? CallTokenClaims(
                LinkMembers(payload, of: CallTokenClaims.tokenKind, failure: .callTokenInvalid))
        else {
            throw IoTError(.callTokenInvalid, "the call's token was not signed by the device's hub")
        }
        guard claims.sub == .device(device), claims.from == caller, claims.channel == call.kind else {
            throw IoTError(.callTokenInvalid, "the call's token is for another device, caller or kind of channel")
        }
        // No overflow: `exp` is not changed, because a token may contain any number.
        guard now - Self.leeway <= claims.exp else {
            throw IoTError(.callTokenInvalid, "the call's token has expired")
        }
        return CallGrant(claims)
    }

    private func vouched(_ call: CallRequest) throws(IoTError) -> CallGrant {
        guard var grant = call.grant else {
            throw IoTError(.callTokenRejected, "the hub forwarded the call without a grant")
        }
        // The grant of an older hub does not contain the kind.
        grant.kind = call.kind
        return grant
    }
}
