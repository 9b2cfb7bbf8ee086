import IoTCore
import IoTLink

/// One method as the hub carries it out: its row, and its handler.
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

    /// A method whose answer may come later: from someone else, or from what the store holds.
    init<Parameters, Result>(
        later method: LinkMethod<Parameters, Result>,
        _ handler: @escaping @Sendable (inout HubCore, HubCall<Parameters>) throws(IoTError) -> HubCore.Outcome
    ) {
        self.init(method.row, handler)
    }

    /// A message of a call: only its route is read, as the rest is between the call's two sides.
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

/// A request on its way to its handler: the caller has the right to it, and its parameters are read.
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
