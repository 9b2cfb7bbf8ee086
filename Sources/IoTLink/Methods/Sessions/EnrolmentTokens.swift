public import IoTCore

/// The result of `enrol.exchange`.
public struct EnrolmentTokens: LinkValue, Hashable {
    public struct User: LinkValue, Hashable {
        public let accessID: AccessID
        public let token: String
        /// Seconds since 1970.
        public let expires: Int64?

        public init(accessID: AccessID, token: String, expires: Int64) {
            self.accessID = accessID
            self.token = token
            self.expires = expires
        }

        public init(_ members: LinkMembers) throws(IoTError) {
            accessID = try members.accessID("accessId")
            token = try members.text("token")
            expires = try members.optionalInteger("expires")
        }

        public var json: JSONValue {
            .members([
                "accessId": .string(accessID.rawValue), "token": .string(token), "expires": .whole(expires),
            ])
        }
    }

    public struct Device: LinkValue, Hashable {
        public let device: DeviceID
        public let name: String
        public let token: String
        /// Seconds since 1970.
        public let expires: Int64?

        public init(device: DeviceID, name: String, token: String, expires: Int64) {
            self.device = device
            self.name = name
            self.token = token
            self.expires = expires
        }

        public init(_ members: LinkMembers) throws(IoTError) {
            device = try members.deviceID("device")
            name = try members.optionalText("name") ?? device.rawValue
            token = try members.text("token")
            expires = try members.optionalInteger("expires")
        }

        public var json: JSONValue {
            .members([
                "device": .string(device.rawValue), "name": .string(name), "token": .string(token),
                "expires": .whole(expires),
            ])
        }
    }

    /// Information about the hub.
    private struct Hub: LinkValue {
        var name: String?

        init(name: String?) {
            self.name = name
        }

        init(_ members: LinkMembers) throws(IoTError) {
            name = try members.optionalText("name")
        }

        var json: JSONValue { .members(["name": .text(name)]) }
    }

    public let user: User?
    public let devices: [Device]
    /// The hub's name, if it has one.
    public let hubName: String?

    public init(user: User?, devices: [Device], hubName: String?) {
        self.user = user
        self.devices = devices
        self.hubName = hubName
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        user = try members.optional("user", as: User.self)
        devices = members["devices"] == nil ? [] : try members.list("devices", of: Device.self)
        hubName = try members.optional("hub", as: Hub.self)?.name
        guard user != nil || !devices.isEmpty else { throw members.wrong("neither a user nor devices are named") }
    }

    public var json: JSONValue {
        .members([
            "hub": Hub(name: hubName).json, "user": user?.json, "devices": .array(devices.map(\.json)),
        ])
    }
}
