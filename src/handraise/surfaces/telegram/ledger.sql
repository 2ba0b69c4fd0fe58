-- Topic 0 is the chat itself.

-- name: schema
CREATE TABLE marks (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE private_chats (
    member INTEGER PRIMARY KEY,
    chat INTEGER NOT NULL
);

CREATE TABLE moves (
    chat INTEGER NOT NULL,
    topic INTEGER NOT NULL,
    to_chat INTEGER NOT NULL,
    to_topic INTEGER NOT NULL,
    PRIMARY KEY (chat, topic)
) WITHOUT ROWID;

-- What Telegram has delivered and was told that we have. `state`: 0 new, 1 begun, 2 done.
CREATE TABLE updates (
    number INTEGER PRIMARY KEY,
    content BLOB NOT NULL,
    state INTEGER NOT NULL
);

CREATE TABLE deliveries (
    ask TEXT NOT NULL,
    chat INTEGER NOT NULL,
    topic INTEGER NOT NULL,
    is_closed INTEGER NOT NULL,
    at INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (ask, chat, topic)
) WITHOUT ROWID;
CREATE INDEX deliveries_open ON deliveries (is_closed) WHERE is_closed = 0;

CREATE TABLE card_messages (
    chat INTEGER NOT NULL,
    message INTEGER NOT NULL,
    ask TEXT NOT NULL,
    topic INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (chat, message)
) WITHOUT ROWID;

CREATE TABLE buttons (
    id TEXT PRIMARY KEY,
    ask TEXT NOT NULL,
    digest TEXT NOT NULL,
    chat INTEGER NOT NULL,
    topic INTEGER NOT NULL,
    member INTEGER,
    revision INTEGER NOT NULL,
    act TEXT NOT NULL,
    argument TEXT NOT NULL,
    at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX buttons_of_card ON buttons (ask, chat, topic, revision);

CREATE TABLE session_links (
    session TEXT NOT NULL,
    chat INTEGER NOT NULL,
    topic INTEGER NOT NULL,
    progress INTEGER,
    cursor INTEGER NOT NULL,
    mute INTEGER NOT NULL,
    started_by INTEGER NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (session, chat, topic)
) WITHOUT ROWID;

-- name: marks
SELECT name, value FROM marks

-- name: save_mark
INSERT INTO marks (name, value) VALUES (:name, :value) ON CONFLICT DO UPDATE SET value = excluded.value

-- name: private_chats
SELECT member, chat FROM private_chats ORDER BY rowid

-- name: save_private_chat
INSERT INTO private_chats (member, chat) VALUES (:member, :chat) ON CONFLICT DO UPDATE SET chat = excluded.chat

-- name: moves
SELECT chat, topic, to_chat, to_topic FROM moves

-- name: save_move
INSERT INTO moves (chat, topic, to_chat, to_topic) VALUES (:chat, :topic, :to_chat, :to_topic)
ON CONFLICT DO UPDATE SET to_chat = excluded.to_chat, to_topic = excluded.to_topic

-- name: move_links
UPDATE OR REPLACE session_links SET chat = :to_chat, topic = :to_topic, progress = NULL
WHERE chat = :chat AND topic = :topic

-- name: recent_updates
SELECT number FROM updates ORDER BY number

-- name: unfinished_updates
SELECT number, content, state FROM updates WHERE state < 2 ORDER BY number

-- name: receive_update
INSERT INTO updates (number, content, state) VALUES (:number, :content, :state) ON CONFLICT DO NOTHING

-- name: begin_update
UPDATE updates SET state = 1 WHERE number = :number AND state = 0

-- name: finish_update
UPDATE updates SET state = 2, content = x'' WHERE number = :number

-- name: prune_updates
DELETE FROM updates WHERE state = 2 AND number NOT IN (SELECT number FROM updates ORDER BY number DESC LIMIT :most)

-- name: open_deliveries
SELECT content FROM deliveries WHERE is_closed = 0 ORDER BY at, ask

-- name: delivery
SELECT content FROM deliveries WHERE ask = :ask AND chat = :chat AND topic = :topic

-- name: deliveries_of
SELECT content FROM deliveries WHERE ask = :ask

-- name: card_at
SELECT ask, topic FROM card_messages WHERE chat = :chat AND message = :message

-- name: save_message
INSERT INTO card_messages (chat, message, ask, topic, at) VALUES (:chat, :message, :ask, :topic, :at)
ON CONFLICT DO NOTHING

-- name: prune_messages
DELETE FROM card_messages WHERE at < :before

-- name: save_delivery
INSERT INTO deliveries (ask, chat, topic, is_closed, at, content)
VALUES (:ask, :chat, :topic, :is_closed, :at, :content)
ON CONFLICT DO UPDATE SET is_closed = excluded.is_closed, at = excluded.at, content = excluded.content

-- name: drop_delivery
DELETE FROM deliveries WHERE ask = :ask AND chat = :chat AND topic = :topic

-- name: prune_deliveries
DELETE FROM deliveries WHERE is_closed = 1 AND at < :before

-- name: button
SELECT ask, digest, chat, topic, member, revision, act, argument FROM buttons WHERE id = :id

-- name: same_button
SELECT id FROM buttons
WHERE ask = :ask AND chat = :chat AND topic = :topic AND revision = :revision AND digest = :digest AND act = :act
    AND argument = :argument AND member IS :member

-- name: save_button
INSERT INTO buttons (id, ask, digest, chat, topic, member, revision, act, argument, at)
VALUES (:id, :ask, :digest, :chat, :topic, :member, :revision, :act, :argument, :at)

-- name: prune_buttons
DELETE FROM buttons WHERE at < :before
    AND NOT EXISTS (
        SELECT 1 FROM deliveries
        WHERE deliveries.ask = buttons.ask AND deliveries.chat = buttons.chat AND deliveries.topic = buttons.topic
            AND deliveries.is_closed = 0
    )

-- name: session_links
SELECT session, chat, topic, progress, cursor, mute, started_by, detail FROM session_links

-- name: save_link
INSERT INTO session_links (session, chat, topic, progress, cursor, mute, started_by, detail)
VALUES (:session, :chat, :topic, :progress, :cursor, :mute, :started_by, :detail)
ON CONFLICT DO UPDATE SET
    progress = excluded.progress, cursor = excluded.cursor, mute = excluded.mute, started_by = excluded.started_by,
    detail = excluded.detail

-- name: drop_link
DELETE FROM session_links WHERE session = :session AND chat = :chat AND topic = :topic
