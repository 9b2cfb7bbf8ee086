import IoTCore
import IoTLink

/// What waits for the hub's decision.
enum HubItem: Sendable {
    /// Called once a call's changes are stored, or could not be.
    typealias Completion = @Sendable (IoTError?) -> Void

    case message(UplinkMessage)
    /// `refuse` takes the place of running it, and of the completion. One that could not be stored is run again.
    case call(
        run: @Sendable (inout HubCore, HubTime) -> (HubTurn, Completion), refuse: @Sendable (IoTError) -> Void)
    /// To a query of an earlier turn.
    case result(HubQueryResult)
    case timeout
    case outage

    var size: Int {
        if case .message(let message) = self { message.payload.count } else { 0 }
    }

    /// Whose it is; `nil` for the hub itself.
    var principal: Principal? {
        if case .message(let message) = self { message.address.principal } else { nil }
    }
}
