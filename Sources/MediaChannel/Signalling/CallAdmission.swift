import IoTCore
import IoTLink

/// Whether a device takes a call that its hub forwards. It acts upon what the call's token says, whose signature it has
/// checked, and upon nothing that stands beside the token.
struct CallAdmission {
    /// By how much clocks may differ, s.
    static let leeway: Int64 = 60

    let device: DeviceID
    let offered: Set<ChannelKind>

    /// What the caller may do.
    ///
    /// - Parameters:
    ///   - caller: whom the hub names.
    ///   - keys: what the hub signs tokens with; `nil` for a hub that gives its devices no keys, and no tokens of calls:
    ///     its word has to do.
    ///   - now: s since 1970, on the hub's clock.
    /// - Throws: 20010 for a token that is not the hub's, is over, or is for something else; 20006 without a token, or
    ///   with one that does not allow to view; 21040 for a kind of channel that the device does not offer.
    func grant(
        of call: CallRequest, from caller: Principal?, keys: TokenKeys?, at now: Int64
    ) throws(IoTError) -> CallGrant {
        let grant = if let keys { try check(call, caller, keys, at: now) } else { try vouched(call) }
        guard offered.contains(call.kind) else {
            let names = ChannelKind.allCases.filter(offered.contains).map(\.name)
            throw IoTError(
                .operationNotAllowed, "the device offers no \(call.kind.name) channels",
                remedy: "open a channel of another kind: \(names.joined(separator: " or "))")
        }
        guard grant.actions.contains(.view) else {
            throw IoTError(.callTokenRejected, "the call's token does not allow to view")
        }
        return grant
    }

    private func check(
        _ call: CallRequest, _ caller: Principal?, _ keys: TokenKeys, at now: Int64
    ) throws(IoTError) -> CallGrant {
        guard let token = call.token else {
            throw IoTError(.callTokenRejected, "the call came without a token")
        }
        guard let payload = keys.payload(of: token),
            let claims = try? CallTokenClaims(
                LinkMembers(payload, of: CallTokenClaims.tokenKind, failure: .callTokenInvalid))
        else {
            throw IoTError(.callTokenInvalid, "the device's hub has signed no such token for calls")
        }
        guard claims.sub == .device(device), claims.from == caller, claims.channel == call.kind else {
            throw IoTError(.callTokenInvalid, "the call's token is for another device, caller or kind of channel")
        }
        // Far from overflow: a token may hold any number.
        guard now - Self.leeway <= claims.exp else {
            throw IoTError(.callTokenInvalid, "the call's token has expired")
        }
        return CallGrant(claims)
    }

    private func vouched(_ call: CallRequest) throws(IoTError) -> CallGrant {
        guard var grant = call.grant else {
            throw IoTError(.callTokenRejected, "the hub forwarded no grant")
        }
        // An earlier hub does not say the kind in it.
        grant.kind = call.kind
        return grant
    }
}
