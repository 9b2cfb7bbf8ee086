import Hummingbird

/// The methods of each path, for requests without a matching route.
struct KnownPaths: Sendable {
    private struct Path: Sendable {
        /// `nil` for a parameter.
        let parts: [Substring?]
        let allow: String

        func matches(_ other: [Substring]) -> Bool {
            parts.count == other.count && zip(parts, other).allSatisfy { $0 == nil || $0 == $1 }
        }
    }

    /// Paths without parameters come first, as in the router.
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

    /// The value of `Allow`; `nil` if no route has this path.
    func allow(_ path: String) -> String? {
        let parts = path.split(separator: "/")
        return paths.first { $0.matches(parts) }?.allow
    }
}
