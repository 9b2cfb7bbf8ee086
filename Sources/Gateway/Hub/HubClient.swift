import GatewayAPI
import IoTCore
import IoTLink

/// Sends requests to the hub in one account's name.
///
/// Each call throws the hub's refusal, 21002 if no response came in time, or 21004 for a malformed response.
struct HubClient: Sendable {
    static let timeout = Duration.seconds(10)
    /// The maximum number of pages that are read of a long list.
    private static let maximumPages = 64

    let link: AccountLink

    init(link: any HubLink, account: Principal?) {
        self.link = AccountLink(link: link, account: account)
    }

    func ask<Parameters, Result>(
        _ method: LinkMethod<Parameters, Result>, _ parameters: Parameters, timeout: Duration = timeout,
        id: String? = nil
    ) async throws(IoTError) -> Result {
        try await link.request(method, parameters, timeout: timeout, id: id)
    }

    /// The requested part of a list that the hub returns in pages.
    ///
    /// - Parameter user: another account, for an administrator, if the list belongs to an account.
    func page<Element>(
        _ method: LinkMethod<PageQuery, LinkPage<Element>>, _ wanted: PageRequest, of user: AccessID? = nil
    ) async throws(IoTError) -> Page<Element> {
        var elements: [Element] = []
        var query = PageQuery(after: wanted.after, limit: wanted.limit.map { Int64($0) }, user: user)
        for _ in 0..<Self.maximumPages {
            let page = try await ask(method, query)
            elements += page.elements
            guard page.hasMore, let last = page.lastPlace else { break }
            if wanted.limit != nil { return Page(elements, next: last) }
            query.after = last
        }
        return Page(elements)
    }
}
