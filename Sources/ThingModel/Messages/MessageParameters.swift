public import IoTCore
public import IoTLink

/// The parameters of `message.send`.
public struct MessageToDevice: LinkValue, Hashable {
    /// An id or a name.
    public var device: String
    public var data: MessageData
    public var responses: MessageResponses
    /// Whether to wake a sleeping device. It has no effect, because devices of this hub do not sleep.
    public var wake: Bool?
    /// The time that the device has to answer; until the request's deadline when absent.
    public var timeoutMilliseconds: Int64?

    public init(
        device: String, data: MessageData, responses: MessageResponses, wake: Bool? = nil,
        timeoutMilliseconds: Int64? = nil
    ) {
        self.device = device
        self.data = data
        self.responses = responses
        self.wake = wake
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        data = try members.messageData("data")
        responses = try members.word("responses", of: MessageResponses.self)
        wake = try members.optionalFlag("wake")
        timeoutMilliseconds = try members.optionalInteger("timeoutMilliseconds")
    }

    public var json: JSONValue {
        .members([
            "device": .string(device), "data": data.json, "responses": .string(responses.rawValue),
            "wake": .flag(wake), "timeoutMilliseconds": .whole(timeoutMilliseconds),
        ])
    }
}

/// The parameters of `message.receive`: a user's message, as the hub forwards it.
public struct MessageFromUser: LinkValue, Hashable {
    public var data: MessageData
    public var responses: MessageResponses

    public init(data: MessageData, responses: MessageResponses) {
        self.data = data
        self.responses = responses
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        data = try members.messageData("data")
        responses = try members.word("responses", of: MessageResponses.self)
    }

    public var json: JSONValue { ["data": data.json, "responses": .string(responses.rawValue)] }
}

/// Data alone: `message.push`, and one response to a message.
public struct MessageContent: LinkValue, Hashable {
    public var data: MessageData

    public init(data: MessageData) {
        self.data = data
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        data = try members.messageData("data")
    }

    public var json: JSONValue { ["data": data.json] }
}

/// The result of `message.send`: the response, if one is expected.
public struct MessageResponse: LinkValue, Hashable {
    public var data: MessageData?

    public init(data: MessageData?) {
        self.data = data
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        data = members["data"] == nil ? nil : try members.messageData("data")
    }

    public var json: JSONValue { .members(["data": data?.json]) }
}

/// The parameters of `server.request`.
public struct ServerQuery: LinkValue, Hashable {
    public var path: String
    public var data: MessageData?

    public init(path: String, data: MessageData? = nil) {
        self.path = path
        self.data = data
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        path = try members.text("path")
        data = members["data"] == nil ? nil : try members.messageData("data")
    }

    public var json: JSONValue { .members(["path": .string(path), "data": data?.json]) }
}

/// `device.data`: bytes that a device sent to its users.
public struct DeviceData: LinkValue, Hashable {
    public var device: DeviceID
    public var content: MessageData
    public var data: [UInt8] { content.bytes }

    public init(device: DeviceID, content: MessageData) {
        self.device = device
        self.content = content
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.deviceID("device")
        content = try members.messageData("data")
    }

    public var json: JSONValue { ["device": .string(device.rawValue), "data": content.json] }
}

extension LinkMembers {
    /// Reads base64. In parameters, throws 25001 when it is invalid and 21008 when it is too long; in an answer, 21006.
    func messageData(_ name: String) throws(IoTError) -> MessageData {
        do throws(IoTError) {
            return try MessageData(value[name])
        } catch {
            guard failure != .invalidRequest else { throw error }
            throw IoTError(.devicePassThroughFailed, "the answer is malformed: \(error.message)", underlying: error)
        }
    }
}
