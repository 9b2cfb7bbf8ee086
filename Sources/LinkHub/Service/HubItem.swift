import IoTCore
import IoTLink

/// An item that waits for the hub's decision.
enum HubItem: Sendable {
    /// Called when a call's changes are stored, or could not be stored.
    typealias Completion = @Sendable (IoTError?) -> Void

    case message(UplinkMessage)
    /// `refuse` is called instead of `run` and the completion. A call that could not be stored is run again.
    case call(
        run: @Sendable (inout HubCore, HubTime) -> (HubTurn, Completion), refuse: @Sendable (IoTError) -> Void)
    /// The result of an earlier turn's query.
    case result(HubQueryResult)
    case timeout
    case outage

    var size: Int {
        if case .message(let message) = self { message.payload.count } else { 0 }
    }

    /// The sender; `nil` for the hub itself.
    var principal: Principal? {
        if case .message(let message) = self { message.address.principal } else { nil }
    }
}
