package import GatewayAPI

/// An event with its id, after which a reader can continue; `nil` for an event that is not in the feed.
package struct NumberedEvent: Sendable {
    package var id: String?
    package var event: GatewayEvent
}
