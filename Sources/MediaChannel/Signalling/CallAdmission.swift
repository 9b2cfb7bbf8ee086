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
    ///   - keys: what the hub signs tokens with; `nil` for a hub that gives its devices no keys, and no tokens of calls:
    ///     its word has to do.
    ///   - now: s since 1970, on the hub's clock.
    /// - Throws: 20010 for a token that is not the hub's, is over, or is for something else; 20006 without a token, or
    ///   with one that does not allow to view; 21040 for a kind of channel that the device does not offer.
    func grant(of request: LinkRequest, keys: TokenKeys?, at now: Int64) throws(IoTError) -> CallGrant {
        let members = LinkMembers(request.params, of: request.method, failure: .invalidRequest)
        let kind = try members.channelKind("kind")
        let grant =
            if let keys { try check(request, kind, keys, at: now) } else { try vouched(request, kind) }
        guard offered.contains(kind) else {
            let names = ChannelKind.allCases.filter(offered.contains).map(\.name)
            throw IoTError(
                .operationNotAllowed, "the device offers no \(kind.name) channels",
                remedy: "open a channel of another kind: \(names.joined(separator: " or "))")
        }
        guard grant.actions.contains("view") else {
            throw IoTError(.callTokenRejected, "the call's token does not allow to view")
        }
        return grant
    }

    private func check(
        _ request: LinkRequest, _ kind: ChannelKind, _ keys: TokenKeys, at now: Int64
    ) throws(IoTError) -> CallGrant {
        guard let token = request.params["token"]?.stringValue else {
            throw IoTError(.callTokenRejected, "the call came without a token")
        }
        guard let claims = keys.payload(of: token), let grant = CallGrant(token: claims) else {
            throw IoTError(.callTokenInvalid, "the device's hub has signed no such token for calls")
        }
        guard claims["sub"]?.stringValue == Principal.device(device).description,
            grant.user == request.from?.description, grant.kind == kind
        else {
            throw IoTError(.callTokenInvalid, "the call's token is for another device, caller or kind of channel")
        }
        // Far from overflow: a token may hold any number.
        guard now - Self.leeway <= grant.expires else {
            throw IoTError(.callTokenInvalid, "the call's token has expired")
        }
        return grant
    }

    private func vouched(_ request: LinkRequest, _ kind: ChannelKind) throws(IoTError) -> CallGrant {
        guard let grant = CallGrant(vouched: request.params["grant"], kind: kind) else {
            throw IoTError(.callTokenRejected, "the hub forwarded no grant")
        }
        return grant
    }
}
