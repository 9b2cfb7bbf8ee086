import Hummingbird

/// Which methods a path knows, for those requests that the router finds nothing for.
struct KnownPaths: Sendable {
    private struct Path: Sendable {
        /// `nil` for a parameter.
        let parts: [Substring?]
        let allow: String

        func matches(_ other: [Substring]) -> Bool {
            parts.count == other.count && zip(parts, other).allSatisfy { $0 == nil || $0 == $1 }
        }
    }

    /// Paths of words go before those with parameters, as in the router.
    private let paths: [Path]

    init(_ routes: [APIRoute]) {
        paths = Dictionary(grouping: routes, by: \.path).map { path, routes in
            var methods = Set(routes.map(\.method))
            if routes.contains(where: \.answersHead) { methods.insert(.head) }
            return Path(
                parts: path.split(separator: "/").map { $0.hasPrefix("{") ? nil : $0 },
                allow: APIRouter.methods.filter(methods.contains).map(\.rawValue).joined(separator: ", "))
        }.sorted { $0.parts.count { $0 == nil } < $1.parts.count { $0 == nil } }
    }

    /// The value of `Allow`; `nil` for a path that there is not.
    func allow(_ path: String) -> String? {
        let parts = path.split(separator: "/")
        return paths.first { $0.matches(parts) }?.allow
    }
}
