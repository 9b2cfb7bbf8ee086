import IoTCore
import IoTLink

/// A method of the hub: its row and its handler.
struct HubMethod: Sendable {
    let row: LinkMethodRow
    let perform: @Sendable (inout HubCore, LinkRequest, HubPermit, HubTime) throws(IoTError) -> HubCore.Outcome

    /// A method that is answered at once.
    init<Parameters, Result>(
        _ method: LinkMethod<Parameters, Result>,
        _ handler: @escaping @Sendable (inout HubCore, HubCall<Parameters>) throws(IoTError) -> Result
    ) {
        self.init(later: method) { core, call throws(IoTError) in .answer(try handler(&core, call).json) }
    }

    /// A method whose answer may come later: from another principal, or from the store.
    init<Parameters, Result>(
        later method: LinkMethod<Parameters, Result>,
        _ handler: @escaping @Sendable (inout HubCore, HubCall<Parameters>) throws(IoTError) -> HubCore.Outcome
    ) {
        self.init(method.row, handler)
    }

    /// A message of a call. Only its route is read, because the rest concerns only the call's two sides.
    init<Message: CallMessage, Result>(
        passing method: LinkMethod<Message, Result>,
        _ handler: @escaping @Sendable (inout HubCore, HubCall<CallRoute>) throws(IoTError) -> HubCore.Outcome
    ) {
        self.init(method.row, handler)
    }

    private init<Parameters>(
        _ row: LinkMethodRow,
        _ handler: @escaping @Sendable (inout HubCore, HubCall<Parameters>) throws(IoTError) -> HubCore.Outcome
    ) {
        self.row = row
        perform = { core, request, permit, time throws(IoTError) in
            let members = HubCall<Parameters>.members(of: request)
            return try handler(
                &core,
                HubCall(parameters: try Parameters(members), request: request, permit: permit, time: time))
        }
    }
}

/// A request for its handler: the caller has the right to it, and its parameters are parsed.
struct HubCall<Parameters: LinkValue> {
    let parameters: Parameters
    let request: LinkRequest
    let permit: HubPermit
    let time: HubTime

    var members: LinkMembers { Self.members(of: request) }

    fileprivate static func members(of request: LinkRequest) -> LinkMembers {
        LinkMembers(request.params, of: request.method, failure: .invalidRequest)
    }
}
