import IoTCore
import Yams

/// One configuration key: its name, its default as printed in `docs/configuration.md`, when a change takes effect, and
/// how its value is read.
struct ConfigurationKey: Sendable {
    /// The file that is being read.
    struct Context: Sendable {
        var file: String
        /// The file's directory, which is the base of relative paths in the file.
        var directory: String

        func path(_ text: String) -> String {
            text.isAbsolutePath ? text : directory + "/" + text
        }
    }

    /// When a changed value takes effect in a running daemon.
    enum Effect: Sendable {
        case atOnce
        case atRestart
    }

    typealias Reading<Value> = @Sendable (Node, Context) throws(ValueRefusal) -> Value

    /// For example `hub.listen`; `cameras[].url` for items of a list.
    let name: String
    let defaultText: String
    let effect: Effect
    let apply: @Sendable (Node, Context, inout Configuration) throws(ValueRefusal) -> Void
    let isEqual: @Sendable (Configuration, Configuration) -> Bool
    /// Copies the key's value from the first configuration to the second.
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

    /// The enclosing sections: `hub` and `hub.tls` for `hub.tls.listen`.
    var sections: [String] {
        let steps = name.split(separator: ".")
        return (1..<steps.count).map { steps.prefix($0).joined(separator: ".") }
    }

    /// Every key that is not in a list.
    static let all = general + hub + link + api + rtsp + lan + recording + firmware + provisioning
}
