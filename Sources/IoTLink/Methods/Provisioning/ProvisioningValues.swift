public import IoTCore

/// The parameters of `net.token`.
public struct ProvisioningTokenCreation: LinkValue, Hashable {
    /// The caller's device that must enrol again, by id or name; when absent, a new device.
    public var device: String?
    /// 300 when absent.
    public var ttlSeconds: Int64?
    /// The id of the API token that the gateway's caller used.
    public var within: String?

    public init(device: String? = nil, ttlSeconds: Int64? = nil, within: String? = nil) {
        self.device = device
        self.ttlSeconds = ttlSeconds
        self.within = within
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.optionalText("device")
        ttlSeconds = try members.optionalLifetime("ttlSeconds", Lifetimes.enrolments)
        within = try members.optionalText("within")
    }

    public var json: JSONValue {
        .members(["device": .text(device), "ttlSeconds": .whole(ttlSeconds), "within": .text(within)])
    }
}

/// `net.token`
extension ProvisioningToken: LinkValue {
    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            id: try members.text("id"), token: try members.text("token"), hub: try members.text("hub"),
            enrolment: try members.text("enrolment"), expires: try members.integer("expires"))
    }

    public var json: JSONValue {
        [
            "id": .string(id), "token": .string(token), "hub": .string(hub), "enrolment": .string(enrolment),
            "expires": .integer(expires),
        ]
    }
}

/// `net.show`
extension ProvisioningStatus: LinkValue {
    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            id: try members.text("id"), phase: try members.word("phase", of: Phase.self),
            expires: try members.optionalInteger("expires"), name: try members.optionalText("name"),
            binding: try members.optional("binding", as: BindingResponse.self),
            failure: try members.optional("failure", as: Failure.self))
    }

    public var json: JSONValue {
        .members([
            "id": .string(id), "phase": .string(phase.rawValue), "expires": .whole(expires), "name": .text(name),
            "binding": binding?.json, "failure": failure?.json,
        ])
    }
}

extension ProvisioningStatus.Failure: LinkValue {
    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            code: Int(clamping: try members.integer("code")), message: try members.text("message"),
            remedy: try members.optionalText("remedy"))
    }

    public var json: JSONValue {
        .members(["code": .integer(Int64(code)), "message": .string(message), "remedy": .text(remedy)])
    }
}

/// `net.claim`: the account that now owns the device.
public struct ProvisionedBy: LinkValue, Hashable {
    public var user: AccessID

    public init(user: AccessID) {
        self.user = user
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        user = try members.accessID("user")
    }

    public var json: JSONValue { ["user": .string(user.rawValue)] }
}
