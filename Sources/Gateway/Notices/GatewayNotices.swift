package import GatewayAPI

/// The webhook of the caller's account.
package protocol GatewayNotices: Sendable {
    /// - Throws: `notFound` if it has none.
    func show() async throws -> NoticeDescription
    func set(_ request: NoticeRequest) async throws -> NoticeDescription
    func remove() async throws
}
