import IoTCore
import IoTLink

/// What a turn must read from the store before its request can be answered. The turn ends with the query, and the
/// result is a new input: the core never waits.
enum HubQuery: Sendable {
    /// The stored answer to a repeated request.
    case answer(number: Int64, to: LinkRequest, from: LinkAddress)
    case events(EventSelection, EventPurpose)

    /// The principal in whose name it is asked; `nil` for the hub itself.
    var asker: Principal? {
        switch self {
        case .answer(_, let request, let address): request.actingAs ?? address.principal
        case .events(_, .list(let permit)), .events(_, .delete(let permit)): permit.actor
        case .events(_, .expire), .events(_, .trim): nil
        }
    }

    enum EventPurpose: Sendable {
        /// With the caller's permit at the time of the request.
        case list(HubPermit)
        case delete(HubPermit)
        /// The hub's own deletion of expired events.
        case expire
        /// The hub's own deletion of a device's oldest events, to make room for a new one.
        case trim(DeviceID)
    }
}

/// The store's result of a query.
enum HubQueryResult: Sendable {
    case answer(Result<[UInt8]?, IoTError>, number: Int64, to: LinkRequest, from: LinkAddress)
    case events(Result<EventRows, IoTError>, HubQuery.EventPurpose)
}
