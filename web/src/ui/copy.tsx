import {useState} from 'preact/hooks';

export function Copy({text, label}: {text: string; label: string}) {
  const [copied, setCopied] = useState('');
  // Only where browsers let pages copy: https and this machine.
  if (!navigator.clipboard) return null;
  return (
    <button type="button" class="small" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(text))}>
      {copied === text ? 'Copied' : label}
    </button>);
}
