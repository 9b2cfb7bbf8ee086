import ArgumentParser
import GatewayAPI

/// From when to when.
struct TimesOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The beginning: 2026-11-24T20:00:00Z, '2026-11-24 20:00', 20:00, or 2h for two hours ago.",
            valueName: "time"), transform: TimeArgument.parse)
    var from: TimeArgument?

    @Option(help: ArgumentHelp("The end. (default: now)", valueName: "time"), transform: TimeArgument.parse)
    var to: TimeArgument?

    func validate() throws {
        guard let from else { return }
        if let to {
            if from.milliseconds >= to.milliseconds { throw ValidationError("--from must be before --to") }
        } else if from.milliseconds > (try TimeArgument.parse("now")).milliseconds {
            throw ValidationError("--from is in the future: \(Format.time(from.milliseconds))")
        }
    }

    /// Both in ms since 1970. The daemon's clock decides about what is now, so the end is open.
    var items: (from: String?, to: String?) { (from.map { "\($0.milliseconds)" }, to.map { "\($0.milliseconds)" }) }

    /// For what must have a beginning.
    func range() throws -> (from: Int64, to: Int64) {
        guard let from else { throw ValidationError("--from is needed") }
        let end = try to ?? TimeArgument.parse("now")
        guard from.milliseconds < end.milliseconds else { throw ValidationError("--from must be before --to") }
        return (from.milliseconds, end.milliseconds)
    }
}
