import IoTCore
import Yams

/// One key: its name, its default as `docs/configuration.md` prints it, when a change of it counts, and how its value
/// is read.
struct ConfigurationKey: Sendable {
    /// A file that is being read.
    struct Context: Sendable {
        var file: String
        /// The file's directory: relative paths in it are relative to that.
        var directory: String

        func path(_ text: String) -> String {
            text.hasPrefix("/") ? text : directory + "/" + text
        }
    }

    /// When a changed value counts in a daemon that runs.
    enum Effect: Sendable {
        case atOnce
        case atRestart
    }

    typealias Reading<Value> = @Sendable (Node, Context) throws(ValueRefusal) -> Value

    /// `hub.listen`; for a list's items `cameras[].url`.
    let name: String
    let defaultText: String
    let effect: Effect
    let apply: @Sendable (Node, Context, inout Configuration) throws(ValueRefusal) -> Void
    let isEqual: @Sendable (Configuration, Configuration) -> Bool
    /// Takes the key's value over from the first into the second.
    let take: @Sendable (Configuration, inout Configuration) -> Void

    init<Value: Equatable & Sendable>(
        _ name: String, default defaultText: String, _ place: any WritableKeyPath<Configuration, Value> & Sendable,
        effect: Effect = .atRestart, _ read: @escaping Reading<Value>
    ) {
        self.name = name
        self.defaultText = defaultText
        self.effect = effect
        apply = { node, context, configuration throws(ValueRefusal) in
            configuration[keyPath: place] = try read(node, context)
        }
        isEqual = { $0[keyPath: place] == $1[keyPath: place] }
        take = { source, target in target[keyPath: place] = source[keyPath: place] }
    }

    /// What it stands in: `hub` and `hub.tls` of `hub.tls.listen`.
    var sections: [String] {
        let steps = name.split(separator: ".")
        return (1..<steps.count).map { steps.prefix($0).joined(separator: ".") }
    }

    /// Every key outside of lists.
    static let all = general + hub + link + api
}
