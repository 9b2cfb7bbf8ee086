import IoTCore

extension StoreWriter {
    func writeEvents(_ change: StoreChange) throws {
        switch change {
        case .addEvent(let event):
            try run(
                "INSERT INTO events (number, device, topic, t, body) VALUES (?, ?, ?, ?, ?)",
                [event.number, event.device.rawValue, event.topic, event.t, event.body])
        case .deleteEvents(let numbers):
            for number in numbers { try run("DELETE FROM events WHERE number = ?", [number]) }
        case .trimEvents(let device, let count):
            try run(
                """
                DELETE FROM events WHERE number IN
                    (SELECT number FROM events WHERE device = ? ORDER BY number LIMIT ?)
                """, [device.rawValue, count])
        default: break
        }
    }
}
