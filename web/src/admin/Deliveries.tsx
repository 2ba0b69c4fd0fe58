/** What was sent to a webhook and what is queued: each event with its attempts, to look at and to send again. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Deliveries, Delivery, DeliveryAttempt, Webhook, Webhooks } from "../generated/api";
import { Machine, Unfolds } from "../parts/Folded";
import { post } from "../store/http";
import { reveal, revealExactly } from "../text/reveal";
import { moment } from "../text/times";
import { t } from "../texts";
import { Loading, Trouble, useResource, type Resource } from "./read";

export function DeliveryList({ webhook, sent, reading }: { webhook: Webhook; sent: Signal<number>; reading: Resource<Webhooks> }) {
  return <Unfolds title={t("admin.webhooks.deliveries")}>{() => <Listed webhook={webhook} sent={sent} all={reading} />}</Unfolds>;
}

function Listed({ webhook, sent, all }: { webhook: Webhook; sent: Signal<number>; all: Resource<Webhooks> }) {
  const path = `/api/webhooks/${encodeURIComponent(webhook.id)}/deliveries`;
  const reading = useResource<Deliveries>(path);
  const list = reading.value.value?.deliveries;
  useEffect(() => {
    if (sent.value > 0) reading.again();
  }, [sent.value]);
  const resend = async (delivery: Delivery) => {
    await reading.act(() => post(`${path}/${encodeURIComponent(delivery.id)}/resend`));
    all.again();
  };
  return (
    <>
      <Trouble reading={reading} />
      {!list && <Loading reading={reading} />}
      {list?.length === 0 && <p class="quiet-text">{t("admin.webhooks.nothing_sent")}</p>}
      <ul class="device-list">
        {list?.map((delivery) => (
          <OneDelivery key={delivery.id} delivery={delivery} resend={() => resend(delivery)} />
        ))}
      </ul>
    </>
  );
}

function OneDelivery({ delivery, resend }: { delivery: Delivery; resend: () => Promise<void> }) {
  const busy = useSignal(false);
  const last = delivery.attempts.at(-1);
  const again = async () => {
    busy.value = true;
    await resend();
    busy.value = false;
  };
  return (
    <li class="device delivery">
      <div>
        <span class="device-name">{reveal(delivery.event)}</span> <span class="quiet-text">{moment(delivery.at)}</span>
        <p class={delivery.state === "sent" ? "quiet-text" : "device-trouble"}>{outcomeOf(delivery, last)}</p>
        <Unfolds title={t("admin.webhooks.details")}>{() => <Details delivery={delivery} />}</Unfolds>
      </div>
      <button type="button" class="quiet small" disabled={busy.value} aria-label={t("admin.webhooks.resend_named", { event: delivery.event })} onClick={() => void again()}>
        {busy.value ? t("admin.webhooks.sending") : t("admin.webhooks.resend")}
      </button>
    </li>
  );
}

function Details({ delivery }: { delivery: Delivery }) {
  return (
    <>
      <p class="quiet-text">
        <code>{delivery.id}</code>
      </p>
      {delivery.attempts.map((each, at) => (
        <p key={at} class="quiet-text">
          {moment(each.at)} · {attemptOf(each)}
          {each.answer && (
            <>
              {" "}
              <code>{revealExactly(each.answer)}</code>
            </>
          )}
        </p>
      ))}
      <Machine text={pretty(delivery.body)} label={t("admin.webhooks.body")} />
    </>
  );
}

function outcomeOf(delivery: Delivery, last: DeliveryAttempt | undefined): string {
  const outcome = last ? attemptOf(last) : "";
  const next = delivery.state === "queued" && delivery.next_at && delivery.tries ? t("admin.webhooks.next_try", { date: moment(delivery.next_at) }) : "";
  return [t(`admin.webhooks.delivery.${delivery.state}`), outcome, next].filter(Boolean).join(" · ");
}

export function attemptOf(attempt: DeliveryAttempt): string {
  return attempt.problem ? reveal(attempt.problem) : t("admin.webhooks.accepted", { status: attempt.status ?? 0, ms: attempt.ms });
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
