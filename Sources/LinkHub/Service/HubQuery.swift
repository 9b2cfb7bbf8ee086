import IoTCore
import IoTLink

/// What a turn must read from the store before its request can be answered. The turn ends with it, and what the store
/// says is a new input: the core waits for nothing.
enum HubQuery: Sendable {
    /// The stored answer of a request that came again.
    case answer(number: Int64, to: LinkRequest, from: LinkAddress)
    case events(EventSelection, EventPurpose)

    /// In whose name it is asked; `nil` for the hub itself.
    var asker: Principal? {
        switch self {
        case .answer(_, let request, let address): request.actingAs ?? address.principal
        case .events(_, .list(let permit)), .events(_, .delete(let permit)): permit.actor
        case .events(_, .expire), .events(_, .trim): nil
        }
    }

    enum EventPurpose: Sendable {
        /// Who asked, and might when it was asked.
        case list(HubPermit)
        case delete(HubPermit)
        /// The hub's own deleting of what is too old.
        case expire
        /// The hub's own deleting of a device's oldest, for which there is no room beside a new one.
        case trim(DeviceID)
    }
}

/// What the store says to a query.
enum HubQueryResult: Sendable {
    case answer(Result<[UInt8]?, IoTError>, number: Int64, to: LinkRequest, from: LinkAddress)
    case events(Result<EventRows, IoTError>, HubQuery.EventPurpose)
}
