import IoTCore
import IoTLink
import ThingModel

/// Messages: data that the hub passes on without reading it, and requests to the hub itself.
extension HubCore {
    // MARK: To a device

    mutating func sendMessage(_ call: HubCall<MessageToDevice>) throws(IoTError) -> Outcome {
        let message = call.parameters
        let device = try call.permit.target()
        guard let session = sessions[.device(device)] else { throw IoTError(.deviceOffline) }
        return try forward(
            call, as: MessageMethod.receive, MessageFromUser(data: message.data, responses: message.responses),
            to: session.address, purpose: .message(message.responses), timeout: message.timeoutMilliseconds)
    }

    /// One of several responses.
    mutating func passOn(_ reply: LinkReply, of forward: Forward, at time: HubTime) {
        guard let requester = forward.requester else { return }
        let checked = Result { () throws(IoTError) in try Self.response(reply.result) }
        guard case .success(let result) = checked else {
            conclude(forward, checked, sequence: reply.seq, at: time)
            return
        }
        let part = LinkReply(id: requester.id, result: result, seq: reply.seq, final: false)
        guard let bytes = try? Envelope.reply(part).serialized() else { return }
        turn.outputs.append(.message(requester.address, bytes))
        forwards.addPart(forward.id, bytes)
    }

    /// The last response, or the error. A repeated request gets all responses again.
    mutating func finishMessage(
        _ forward: Forward, _ responses: MessageResponses, _ outcome: Result<JSONValue, IoTError>, _ sequence: Int?,
        for requester: HubTurn.Requester, at time: HubTime
    ) {
        var reply = LinkReply(id: requester.id, outcome: Self.checked(outcome, responses))
        // Only for several responses, so that the requester notices a lost one.
        if responses == .many { reply.seq = sequence }
        guard let bytes = try? Envelope.reply(reply).serialized() else { return }
        turn.outputs.append(.message(requester.address, bytes))
        recent.add(
            requester.key, requester.content, forward.parts + [bytes], of: requester.actor, at: time.wall)
    }

    /// `request.finish`: the user wants no more responses, so the device need not go on.
    mutating func finishForward(of id: String, from address: LinkAddress, at time: HubTime) {
        let key = AnswerIndex.Key(principal: address.principal, id: id)
        guard let forward = forwards.forward(of: key), case .message(.many) = forward.purpose,
            forward.requester?.address == address
        else { return }
        push(
            SessionMethod.finish, FinishedRequest(id: forward.id, from: forward.requester?.actor), to: forward.target,
            at: time)
        conclude(forward, .success(.null), sequence: forward.parts.count, at: time)
    }

    private static func checked(
        _ outcome: Result<JSONValue, IoTError>, _ responses: MessageResponses
    ) -> Result<JSONValue, IoTError> {
        switch outcome {
        // A device without a handler answers with this error.
        case .failure(let error) where error.code == .invalidRequest:
            return .failure(IoTError(.devicePassThroughFailed, "the device rejects this message: \(error.message)"))
        case .failure: return outcome
        case .success(let result):
            return Result { () throws(IoTError) in
                switch responses {
                case .none: [:]
                case .many where result == .null: .null
                case .one, .many: try response(result)
                }
            }
        }
    }

    private static func response(_ result: JSONValue) throws(IoTError) -> JSONValue {
        do throws(IoTError) {
            return MessageContent(data: try MessageData(result["data"])).json
        } catch {
            throw IoTError(.devicePassThroughFailed, "the device's response is malformed: \(error.message)")
        }
    }

    // MARK: From a device

    /// `message.push`: to every user who is online and may view the device.
    mutating func pushData(
        _ content: MessageContent, _ device: DeviceID, at time: HubTime
    ) -> LinkNothing {
        pushToUsers(of: device, MessageMethod.data, DeviceData(device: device, content: content.data), at: time)
        return LinkNothing()
    }

    // MARK: To the hub itself

    mutating func askServer(
        _ query: ServerQuery, _ permit: HubPermit, at time: HubTime
    ) throws(IoTError) -> MessageContent {
        let answer: JSONValue
        switch query.path {
        case "GET/time": answer = ["t": .integer(time.wall)]
        case "GET/NetCfg_Token": answer = try provisioningToken(query.data?.bytes, permit, at: time)
        default:
            throw IoTError(
                .serverPassThroughFailed,
                "the hub answers nothing at '\(query.path.prefix(64))'", remedy: "ask for GET/time or GET/NetCfg_Token")
        }
        return MessageContent(data: try MessageData(answer.jsonBytes))
    }

    /// The same as `net.token`, requested by its path.
    private mutating func provisioningToken(
        _ data: [UInt8]?, _ permit: HubPermit, at time: HubTime
    ) throws(IoTError) -> JSONValue {
        let json = data.map { try? JSONValue(parsing: $0) } ?? [:]
        guard let json, json.objectValue != nil else {
            throw IoTError(.invalidRequest, "GET/NetCfg_Token: 'data' must be a JSON object, or left out")
        }
        let members = LinkMembers(json, of: "GET/NetCfg_Token", failure: .invalidRequest)
        return try createProvisioningToken(try ProvisioningTokenCreation(members), permit, at: time).json
    }
}
