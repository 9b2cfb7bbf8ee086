package import GatewayAPI

/// An event with the id behind which a reader goes on; `nil` for one that is not in the feed.
package struct NumberedEvent: Sendable {
    package var id: String?
    package var event: GatewayEvent
}
